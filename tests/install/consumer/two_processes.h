// A cluster of this process and a server of its own: their sockets, certificates and files, and the life of the server. Included by
// one file, which asks for POSIX.
#pragma once

#include <arpa/inet.h>
#include <signal.h>
#include <spawn.h>
#include <sys/socket.h>
#include <sys/wait.h>
#include <unistd.h>

#include <troupe/c/troupe.h>

#include "check.h"

#define PS "/job:ps/replica:0/task:0"
#define WORKER "/job:worker/replica:0/task:0"

extern char** environ;

static const char* program;
static const char* folder;
static char ps_endpoint[64], worker_endpoint[64], nobody[64];
static pid_t server;

static void end_server(void) {
  if (server > 0) kill(server, SIGKILL);
}

/// Returns the path of a file of the test's folder. It lives until the next call but three.
static const char* path_of(const char* name) {
  static char paths[4][4096];
  static int next;
  char* const path = paths[next++ % 4];
  snprintf(path, sizeof paths[0], "%s/%s", folder, name);
  return path;
}

/// Returns a socket that has a free port, and stores its endpoint. Nobody can connect to it before it listens.
static int bound(char* endpoint, size_t room) {
  struct sockaddr_in address = {.sin_family = AF_INET, .sin_addr.s_addr = htonl(INADDR_LOOPBACK)};
  socklen_t size = sizeof address;
  const int made = socket(AF_INET, SOCK_STREAM, 0);
  EXPECT(bind(made, (struct sockaddr*)&address, size) == 0 &&
         getsockname(made, (struct sockaddr*)&address, &size) == 0);
  snprintf(endpoint, room, "127.0.0.1:%d", ntohs(address.sin_port));
  return made;
}

static int listening(char* endpoint, size_t room) {
  const int made = bound(endpoint, room);
  EXPECT(listen(made, 16) == 0);
  return made;
}

static pid_t start(const char* const* arguments) {
  pid_t process;
  EXPECT(posix_spawn(&process, program, NULL, NULL, (char* const*)(uintptr_t)arguments, environ) == 0);
  return process;
}

static void make_certificates(const char* to) {
  int status;
  EXPECT(waitpid(start((const char*[]){program, "certs", to, "--cluster", path_of("cluster.toml"), NULL}),
                 &status, 0) > 0 &&
         status == 0);
}

/// Writes the cluster file and certificates of two authorities, and starts the server.
static void begin(int socket_of_server) {
  char listen_at[16];
  FILE* const file = fopen(path_of("cluster.toml"), "w");
  EXPECT(file != NULL);
  fprintf(
      file,
      "cluster = { name = 'lab', tls = { cert = 'certs/{job}-{task}.pem', key = 'certs/{job}-{task}.key', "
      "ca = 'certs/ca.pem' } }\n[jobs]\nps = ['%s']\nworker = ['%s']\n",
      ps_endpoint, worker_endpoint);
  fclose(file);
  make_certificates(path_of("certs"));
  make_certificates(path_of("other"));
  snprintf(listen_at, sizeof listen_at, "fd:%d", socket_of_server);
  server = start((const char*[]){program, "node", "--cluster", path_of("cluster.toml"), "--job", "ps",
                                 "--listen", listen_at, "--root", folder, NULL});
  EXPECT(atexit(end_server) == 0);
  close(socket_of_server);
}

/// Ends the server in order.
static void stop_server(void) {
  int status;
  EXPECT(kill(server, SIGTERM) == 0 && waitpid(server, &status, 0) == server && status == 0);
  server = 0;
}
