"""Writes reviews.tsv and reviews_words.txt, the data of reviews.toml. Needs no packages; writes the same bytes every time.

A review is a row of words, of which one praises or blames. It is good if the word praises, or if it blames and the word before it
negates that; otherwise it is bad. A third of the reviews has a negation, so a model that adds up what words say is right in two
thirds of all cases. Some words of the reviews are in no vocabulary.
"""
import pathlib
import random

FOLDER = pathlib.Path(__file__).parent
REVIEWS = 2400
PRAISE = "good great superb charming witty moving clever bright tender lively graceful brilliant".split()
BLAME = "bad dull awful clumsy stale lazy boring muddled shallow tedious lifeless dreadful".split()
NEGATIONS = "not never hardly scarcely".split()
OTHERS = """the a this that film plot story scene actor actress script music sound camera light dialogue ending opening
    second third first half part act was is seemed felt looked became remained in of on at with without about under after before
    during between while when where who which whose and or but so then again once always often sometimes perhaps rather quite
    very somewhat almost all some every each other another more most much many few long short old new young late early man woman
    child city house road river winter summer night morning year day hour voice face hand word letter train ship war peace love
    friend family stranger detective teacher doctor king queen soldier""".split()


def review(random_):
    words = random_.choices(OTHERS, k=random_.randint(2, 20))
    if random_.random() < 0.1:
        words.append(f"name{random_.randint(1, 999)}")
        random_.shuffle(words)
    praises, negated = random_.random() < 0.5, random_.random() < 0.35
    judgement = [random_.choice(NEGATIONS)] if negated else []
    judgement.append(random_.choice(PRAISE if praises else BLAME))
    at = random_.randint(0, len(words))
    words[at:at] = judgement
    return "good" if praises != negated else "bad", " ".join(words)


def main():
    random_ = random.Random(17)
    vocabulary = sorted(set(PRAISE + BLAME + NEGATIONS + OTHERS))
    (FOLDER / "reviews_words.txt").write_text("".join(f"{word}\n" for word in vocabulary))
    lines = ("\t".join(review(random_)) for _ in range(REVIEWS))
    (FOLDER / "reviews.tsv").write_text("".join(f"{line}\n" for line in lines))


main()
