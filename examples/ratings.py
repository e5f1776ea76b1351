"""Writes ratings.csv: user, item, rating. Users and items have a few hidden tastes and traits, and a rating follows from those of its user
and item. The numbers of the users are spread over a large range, as those of a large service would be."""
import numpy

USERS, ITEMS, RATINGS, RANGE, TASTES = 400, 200, 12_000, 20_000, 3
random = numpy.random.default_rng(5)
numbers = numpy.sort(random.choice(RANGE, USERS, replace=False))
tastes, traits = random.normal(0, 1, (USERS, TASTES)), random.normal(0, 1, (ITEMS, TASTES))
with open("ratings.csv", "w") as file:
    for cell in random.choice(USERS * ITEMS, RATINGS, replace=False):
        user, item = divmod(int(cell), ITEMS)
        rating = 3 + tastes[user] @ traits[item] / TASTES ** 0.5 + random.normal(0, 0.1)
        file.write(f"{numbers[user]},{item},{min(5, max(1, round(rating)))}\n")
