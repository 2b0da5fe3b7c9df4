// Writes what the panel knows of the contract: types and guards from share/comm, and what each rule means.
import { mkdir, readFile, readdir, writeFile } from 'node:fs/promises';
import { fileURLToPath } from 'node:url';
import Ajv2020 from 'ajv/dist/2020.js';
import standaloneCode from 'ajv/dist/standalone/index.js';
import { compile } from 'json-schema-to-typescript';

const here = new URL('..', import.meta.url);
const comm = new URL('../comm/', here);
const smells = new URL('../../monitor/smells/', here);
const types = new URL('src/contract/', here);
// Beside what the compiler writes, for the panel and for its tests.
const code = ['lib/contract/', 'build/src/contract/'].map(folder => new URL(folder, here));
const BANNER = '// Made by scripts/contract.mjs.\n';

const capitalized = name => name[0].toUpperCase() + name.slice(1);

async function writeCode(name, text) {
  await Promise.all(code.map(folder => writeFile(new URL(name, folder), BANNER + text)));
}

/** One schema that refers to itself alone: the verdict's definitions get names of their own. */
async function wholeSchema() {
  const text = await readFile(new URL('v1.schema.json', comm), 'utf8');
  const verdictText = await readFile(new URL('verdict.v1.schema.json', comm), 'utf8');
  const renamed = (_, name) => `"#/$defs/verdict${capitalized(name)}"`;
  const schema = JSON.parse(text.replace(/"xleak\.verdict\/1#\/\$defs\/(\w+)"/g, renamed));
  const verdict = JSON.parse(verdictText.replace(/"#\/\$defs\/(\w+)"/g, renamed));
  for (const [name, definition] of Object.entries(verdict.$defs)) {
    schema.$defs[`verdict${capitalized(name)}`] = definition;
  }
  return { ...schema, title: 'Message' };
}

async function writeTypes(schema) {
  const written = await compile(schema, 'Message', {
    additionalProperties: false,
    bannerComment: BANNER,
    // A tuple type for every length up to the limit of a list helps nobody.
    ignoreMinAndMaxItems: true
  });
  await writeFile(new URL('messages.ts', types), written);
}

/** The schema without its prose, which a guard would carry along. */
function withoutProse(schema) {
  const isProse = (key, value) => key === 'description' && typeof value === 'string';
  return JSON.parse(
    JSON.stringify(schema, (key, value) => (isProse(key, value) ? undefined : value))
  );
}

async function writeGuards(schema) {
  const ajv = new Ajv2020({
    code: { source: true },
    strict: false,
    schemas: [withoutProse(schema)]
  });
  const sides = ['fromKernel', 'fromFrontEnd'];
  const refs = Object.fromEntries(sides.map(side => [side, `${schema.$id}#/$defs/${side}`]));
  await writeCode('guards.js', standaloneCode(ajv, refs));
  const declarations = sides.map(
    side => `export function ${side}(data: unknown): data is ${capitalized(side)};`
  );
  const imported = sides.map(capitalized).join(', ');
  await writeFile(
    new URL('guards.d.ts', types),
    `${BANNER}import type { ${imported} } from './messages';\n\n${declarations.join('\n')}\n`
  );
}

/** The README of each smell by its code, for who asks what a finding means. */
async function writeExplanations() {
  const known = {};
  for (const slug of (await readdir(smells)).sort()) {
    const text = await readFile(new URL(`${slug}/README.md`, smells), 'utf8');
    const titled = /^# .* \((XL\d{3})\)/.exec(text);
    if (titled) {
      known[titled[1]] = text.trimEnd();
    }
  }
  await writeCode('explanations.js', `exports.explanations = ${JSON.stringify(known)};\n`);
  await writeFile(
    new URL('explanations.d.ts', types),
    `${BANNER}export const explanations: Readonly<Record<string, string | undefined>>;\n`
  );
}

const folders = [types, ...code].map(folder => fileURLToPath(folder));
await Promise.all(folders.map(folder => mkdir(folder, { recursive: true })));
const schema = await wholeSchema();
await writeTypes(schema);
await writeGuards(schema);
await writeExplanations();
