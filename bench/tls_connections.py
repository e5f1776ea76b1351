#!/usr/bin/env python3
"""Measures whether several TLS connections move 1 GiB faster than one: python bench/tls_connections.py [ROUNDS].

The two processes have a thread for each connection, which does nothing but encrypt and send, or receive and decrypt. Needs openssl, which
makes a certificate. Prints the median rate over the rounds for one, two and four connections.
"""
import os
import socket
import ssl
import statistics
import subprocess
import sys
import tempfile
import threading
import time

TOTAL, TURN = 1 << 30, 256 << 10


def in_threads(function, items):
    threads = [threading.Thread(target=function, args=(item,)) for item in items]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def serve(listener, count, folder):
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(f"{folder}/certificate.pem", f"{folder}/key.pem")

    def receive(connection):
        stream, buffer, left = context.wrap_socket(connection, server_side=True), bytearray(TURN), TOTAL // count
        while left > 0:
            left -= stream.recv_into(buffer)
        stream.send(b"!")

    in_threads(receive, [listener.accept()[0] for _ in range(count)])


def seconds(count, folder):
    listener = socket.create_server(("127.0.0.1", 0))
    child = os.fork()
    if child == 0:
        serve(listener, count, folder)
        os._exit(0)
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_CLIENT)
    context.check_hostname, context.verify_mode = False, ssl.CERT_NONE
    connections = [socket.create_connection(listener.getsockname()) for _ in range(count)]
    streams = [context.wrap_socket(connection) for connection in connections]
    content = bytes(TURN)

    def send(stream):
        for _ in range(TOTAL // count // TURN):
            stream.sendall(content)
        stream.recv(1)

    begin = time.monotonic()
    in_threads(send, streams)
    result = time.monotonic() - begin
    os.waitpid(child, 0)
    return result


def main(rounds):
    with tempfile.TemporaryDirectory() as folder:
        subprocess.run(["openssl", "req", "-x509", "-newkey", "rsa:2048", "-nodes", "-days", "2", "-subj", "/CN=bench", "-keyout",
                        f"{folder}/key.pem", "-out", f"{folder}/certificate.pem"], check=True, capture_output=True)
        times = {count: [] for count in (1, 2, 4)}
        for _ in range(rounds):
            for count, values in times.items():
                values.append(seconds(count, folder))
        for count, values in times.items():
            print(f"{count} connections: {TOTAL / statistics.median(values) / 1e9:.2f} GB/s")


if __name__ == "__main__":
    main(int(sys.argv[1]) if len(sys.argv) > 1 else 5)
