//! What the demo project's authors did, step by step.
//!
//! The project prints price labels for a tea shop. Its branches cover what a branch tool meets:
//! merged, unmerged, protected by name, checked out.

/// One thing that somebody did. Each takes place some hours after the one before.
pub(super) enum Step {
    /// Files (path, whole text) replaced on a branch; the first commit begins it.
    Commit { on: &'static str, by: usize, message: &'static str, files: &'static [(&'static str, &'static str)] },
    /// A branch begun where another stands.
    Branch { name: &'static str, from: &'static str },
    /// A branch merged by a merge commit.
    Merge { branch: &'static str, into: &'static str, by: usize },
    /// The release tag.
    Tag { on: &'static str, by: usize },
}

/// Name and address; their places are the `by` of the steps.
pub(super) const AUTHORS: [(&str, &str); 3] = [
    ("Maintainer", "maintainer@example.com"),
    ("Contributor", "contributor@example.com"),
    ("Intern", "intern@example.com"),
];

/// The branch that the clone has checked out.
pub(super) const CHECKED_OUT: &str = "docs/readme";

/// The annotated tag.
pub(super) const TAG: &str = "v1.0.0";

const MAINTAINER: usize = 0;
const CONTRIBUTOR: usize = 1;
const INTERN: usize = 2;

pub(super) const HISTORY: &[Step] = &[
    Step::Commit {
        on: "main",
        by: MAINTAINER,
        message: "Start the label printer\n",
        files: &[("README.md", README_1), (".gitignore", "__pycache__/\n*.pdf\n")],
    },
    Step::Commit {
        on: "main",
        by: MAINTAINER,
        message: "Read products from the price list\n",
        files: &[("labels/products.py", PRODUCTS_1), ("labels/__init__.py", "")],
    },
    Step::Commit {
        on: "main",
        by: MAINTAINER,
        message: "Format prices in cents\n\nFloats turned 4.10 into 4.1000000000000005.\n",
        files: &[("labels/price.py", PRICE_1)],
    },
    Step::Commit {
        on: "main",
        by: CONTRIBUTOR,
        message: "Print one label a product\n",
        files: &[("labels/__main__.py", MAIN_1)],
    },
    Step::Branch { name: "fix/typo", from: "main" },
    Step::Commit {
        on: "fix/typo",
        by: INTERN,
        message: "Fix a typo in the readme\n",
        files: &[("README.md", README_2)],
    },
    Step::Commit {
        on: "main",
        by: MAINTAINER,
        message: "Test the price format\n",
        files: &[("tests/test_price.py", TEST_PRICE_1)],
    },
    Step::Merge { branch: "fix/typo", into: "main", by: MAINTAINER },
    Step::Branch { name: "fix/rounding", from: "main" },
    Step::Commit {
        on: "fix/rounding",
        by: CONTRIBUTOR,
        message: "Round the price per 100 g half up\n\nThe labels were a cent short for 12.5 cents.\n",
        files: &[("labels/price.py", PRICE_2)],
    },
    Step::Commit {
        on: "fix/rounding",
        by: CONTRIBUTOR,
        message: "Test rounding at the half cent\n",
        files: &[("tests/test_price.py", TEST_PRICE_2)],
    },
    Step::Merge { branch: "fix/rounding", into: "main", by: MAINTAINER },
    Step::Commit {
        on: "main",
        by: MAINTAINER,
        message: "Describe the changes of 1.0\n",
        files: &[("CHANGELOG.md", CHANGELOG_1)],
    },
    Step::Tag { on: "main", by: MAINTAINER },
    Step::Branch { name: "release/1.0", from: "main" },
    Step::Branch { name: "experiment/cache", from: "main" },
    Step::Commit {
        on: "experiment/cache",
        by: INTERN,
        message: "Cache the parsed price list\n",
        files: &[("labels/cache.py", CACHE_1)],
    },
    Step::Commit {
        on: "experiment/cache",
        by: INTERN,
        message: "Drop the cache when the list changes\n",
        files: &[("labels/cache.py", CACHE_2)],
    },
    Step::Commit {
        on: "main",
        by: CONTRIBUTOR,
        message: "Skip products that are discontinued\n",
        files: &[("labels/products.py", PRODUCTS_2)],
    },
    Step::Commit {
        on: "release/1.0",
        by: MAINTAINER,
        message: "Skip products that are discontinued\n\nBackported from main for the spring labels.\n",
        files: &[("labels/products.py", PRODUCTS_2)],
    },
    Step::Branch { name: "feature/search", from: "main" },
    Step::Commit {
        on: "feature/search",
        by: CONTRIBUTOR,
        message: "Find products by a part of their name\n",
        files: &[("labels/search.py", SEARCH_1)],
    },
    Step::Commit {
        on: "main",
        by: MAINTAINER,
        message: "Say how to run the tests\n",
        files: &[("README.md", README_3)],
    },
    Step::Commit {
        on: "feature/search",
        by: CONTRIBUTOR,
        message: "Search without regard to case\n",
        files: &[("labels/search.py", SEARCH_2), ("tests/test_search.py", TEST_SEARCH)],
    },
    Step::Branch { name: "docs/readme", from: "main" },
    Step::Commit {
        on: "docs/readme",
        by: INTERN,
        message: "Show a label in the readme\n",
        files: &[("README.md", README_4)],
    },
    Step::Commit {
        on: "main",
        by: CONTRIBUTOR,
        message: "Put the origin on the label\n",
        files: &[("labels/__main__.py", MAIN_2), ("CHANGELOG.md", CHANGELOG_2)],
    },
];

const README_1: &str = "# Labels\n\nPrints price lables for a small tea shop.\n";
const README_2: &str = "# Labels\n\nPrints price labels for a small tea shop.\n";
const README_3: &str = "\
# Labels

Prints price labels for a small tea shop.

    python -m labels products.csv
    python -m unittest discover tests
";
const README_4: &str = "\
# Labels

Prints price labels for a small tea shop.

    $ python -m labels products.csv
    +--------------------+
    | Assam         4.10 |
    | 100 g              |
    +--------------------+

The tests: `python -m unittest discover tests`
";

const PRODUCTS_1: &str = "\
import csv


def read(path):
    \"\"\"The products of a price list, in its order.\"\"\"
    with open(path, newline=\"\", encoding=\"utf-8\") as file:
        return list(csv.DictReader(file))
";
const PRODUCTS_2: &str = "\
import csv


def read(path):
    \"\"\"The products of a price list that are still sold, in its order.\"\"\"
    with open(path, newline=\"\", encoding=\"utf-8\") as file:
        return [row for row in csv.DictReader(file) if row[\"discontinued\"] != \"1\"]
";

const PRICE_1: &str = "\
def text(cents):
    \"\"\"A price as a label shows it.\"\"\"
    return f\"{cents // 100}.{cents % 100:02}\"


def per_100_g(cents, grams):
    return cents * 100 // grams
";
const PRICE_2: &str = "\
def text(cents):
    \"\"\"A price as a label shows it.\"\"\"
    return f\"{cents // 100}.{cents % 100:02}\"


def per_100_g(cents, grams):
    \"\"\"Rounded half up, as the scales do it.\"\"\"
    return (cents * 200 + grams) // (2 * grams)
";

const MAIN_1: &str = "\
import sys

from . import price, products

for row in products.read(sys.argv[1]):
    print(f\"{row['name']:<14}{price.text(int(row['cents'])):>6}\")
";
const MAIN_2: &str = "\
import sys

from . import price, products

for row in products.read(sys.argv[1]):
    print(f\"{row['name']:<14}{price.text(int(row['cents'])):>6}\")
    print(row[\"origin\"])
";

const TEST_PRICE_1: &str = "\
import unittest

from labels import price


class PriceTest(unittest.TestCase):
    def test_cents_have_two_digits(self):
        self.assertEqual(price.text(405), \"4.05\")
";
const TEST_PRICE_2: &str = "\
import unittest

from labels import price


class PriceTest(unittest.TestCase):
    def test_cents_have_two_digits(self):
        self.assertEqual(price.text(405), \"4.05\")

    def test_half_a_cent_is_rounded_up(self):
        self.assertEqual(price.per_100_g(25, 200), 13)
";

const CHANGELOG_1: &str = "# Changes\n\n## 1.0\n\n- One label a product.\n";
const CHANGELOG_2: &str =
    "# Changes\n\n## Unreleased\n\n- The origin is on the label.\n\n## 1.0\n\n- One label a product.\n";

const CACHE_1: &str = "\
from functools import cache

from . import products

read = cache(products.read)
";
const CACHE_2: &str = "\
import os
from functools import cache

from . import products


@cache
def _read(path, modified):
    return products.read(path)


def read(path):
    return _read(path, os.stat(path).st_mtime_ns)
";

const SEARCH_1: &str = "\
def find(products, part):
    return [row for row in products if part in row[\"name\"]]
";
const SEARCH_2: &str = "\
def find(products, part):
    part = part.casefold()
    return [row for row in products if part in row[\"name\"].casefold()]
";
const TEST_SEARCH: &str = "\
import unittest

from labels.search import find


class SearchTest(unittest.TestCase):
    def test_case_does_not_matter(self):
        row = {\"name\": \"Assam\"}
        self.assertEqual(find([row], \"ass\"), [row])
";
