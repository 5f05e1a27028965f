/** What the pages and the comments name is there. */
import { assertEquals } from "@std/assert";
import { dirname, join } from "@std/path";
import { REPOSITORY } from "../harness.ts";

/** Every text file of that kind which is part of the repository, by its path in it. */
function listFiles(extension: RegExp, folder = ""): string[] {
  const skipped = /^(\.(?!ci)|node_modules$|dist$)/;
  return [...Deno.readDirSync(join(REPOSITORY, folder))].flatMap(({ name, isDirectory }) => {
    const path = join(folder, name);
    if (isDirectory) return skipped.test(name) ? [] : listFiles(extension, path);
    return extension.test(name) ? [path] : [];
  });
}

function isThere(path: string): boolean {
  try {
    Deno.statSync(join(REPOSITORY, path));
    return true;
  } catch {
    return false;
  }
}

const read = (path: string) => Deno.readTextFileSync(join(REPOSITORY, path));

/** The names by which a page's headings are linked to. */
function anchorsOf(page: string): string[] {
  const headings = read(page).replace(/```[^]*?```/g, "").matchAll(/^#+ (.*)$/gm);
  return [...headings].map(([, text]) => text!.toLowerCase().replace(/[^\w\- ]/g, "").replaceAll(" ", "-"));
}

/** Links of a page that lead nowhere. */
function deadLinks(page: string, text: string): string[] {
  const links = [...text.replace(/```[^]*?```/g, "").matchAll(/\]\(([^)\s]+)\)/g)].map(([, link]) => link!);
  return links.filter((link) => {
    if (/^[a-z]+:/.test(link)) return false;
    const [path = "", anchor] = link.split("#");
    const target = path === "" ? page : join(dirname(page), path);
    return !isThere(target) || (anchor !== undefined && !anchorsOf(target).includes(anchor));
  });
}

Deno.test("pages: each link leads to a file, and to a heading of it", () => {
  const pages = listFiles(/\.md$/);
  assertEquals(pages.includes("README.md") && pages.includes("docs/walls.md"), true);
  for (const page of pages) assertEquals(deadLinks(page, read(page)), [], page);
  const dead = "[a](nowhere.md) [b](README.md#nowhere) [c](#nowhere) [d](README.md#a-tour) [e](https://x.invalid)";
  assertEquals(deadLinks("README.md", dead), ["nowhere.md", "README.md#nowhere", "#nowhere"]);
});

Deno.test("pages: each file and folder of the repository that prose names is there", () => {
  const made = /^(dist|\.build)\//;
  for (const page of listFiles(/\.md$/).filter((path) => !/^(tests|capsules)\//.test(path))) {
    const named = [...read(page).matchAll(/`((?:src|docs|tests|capsules|\.ci)\/[\w./-]*\w\/?)`/g)].map(([, path]) =>
      path!
    );
    assertEquals(named.filter((path) => !made.test(path) && !isThere(path)), [], page);
  }
});

Deno.test("comments: each page and heading that the code names is there", () => {
  const wrong: string[] = [];
  for (const file of listFiles(/\.ts$/).filter((path) => path !== "tests/behaviour/links_test.ts")) {
    for (const [, page, heading] of read(file).matchAll(/\b(README|docs\/[\w./-]+\.md)(?:, "([A-Z][^"\n]*)")?/g)) {
      const path = page === "README" ? "README.md" : page!;
      const found = isThere(path) && (heading === undefined || read(path).includes(`# ${heading}\n`));
      if (!found) wrong.push(`${file}: ${page}${heading === undefined ? "" : `, "${heading}"`}`);
    }
  }
  assertEquals(wrong, []);
});

Deno.test("decisions: the index has each of them under its title, in order, and nothing else", () => {
  const files = [...Deno.readDirSync(join(REPOSITORY, "docs/decisions"))].map(({ name }) => name)
    .filter((name) => /^\d{4}-/.test(name)).sort();
  const wanted = files.map((file) => {
    const [title = ""] = read(`docs/decisions/${file}`).split("\n");
    const words = title.replace(/^# (?:\d+[.:] )?/, "");
    return `- [${file.slice(0, 4)}](${file}) ${words[0]!.toUpperCase()}${words.slice(1)}`;
  });
  const lines = read("docs/decisions/README.md").split("\n").filter((line) => line.startsWith("- "));
  assertEquals(lines, wanted, "a new record has its title as a line of docs/decisions/README.md");
});
