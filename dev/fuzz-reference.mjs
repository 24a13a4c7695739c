/**
 * Compares the profile `reference` with the reference validator itself on random frontmatter.
 *
 *   SKILLS_REF_PYTHONPATH=…/skills-ref/src node dev/fuzz-reference.mjs [--count 20000] [--seed 1]
 *
 * Needs Debian's python3-strictyaml and a checkout of skills-ref; without them it says so and
 * ends with 0. Ends with 1 where a verdict or the class of an error differs.
 */
import { spawn, spawnSync } from 'node:child_process'
import { readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { createInterface } from 'node:readline'
import { parseArgs } from 'node:util'
import { readReferenceFields } from '../src/skill/reference/parser.ts'
import { validateReference } from '../src/skill/reference/validate-reference.ts'
import { grammarText, mutatedText, ordinaryText, randomFrom } from '../test/skill/_fuzz-text.ts'

const { values } = parseArgs({
  options: {
    count: { type: 'string', default: '20000' },
    seed: { type: 'string', default: '1' },
    show: { type: 'string', default: '10' },
  },
})
const root = path.resolve(import.meta.dirname, '..')
const corpus = process.env.SKILLRAIL_CORPUS ?? path.resolve(root, '../shared/corpus')
const python = process.env.SKILLS_REF_PYTHON ?? '/usr/bin/python3'
const judge = path.join(import.meta.dirname, 'reference-judge.py')
const environment = { ...process.env, PYTHONPATH: process.env.SKILLS_REF_PYTHONPATH ?? '' }

const probe = spawnSync(python, ['-c', 'import strictyaml, skills_ref'], { env: environment })
if (probe.status !== 0) {
  console.log('skipped: python3-strictyaml or skills-ref is not there (SKILLS_REF_PYTHONPATH)')
  process.exit(0)
}

// Without a directory the rule about its name stays out of the way of the other verdicts.
const directories = [null, null, null, 'a', 'ß', 'é', '.', 'fi', 'a-b']
const classes = [
  [/^Unexpected fields/, 'unknown-field'],
  [/^Missing required field in frontmatter: name/, 'name-missing'],
  [/^Missing required field in frontmatter: description/, 'description-missing'],
  [/^Field 'name'/, 'name-empty'],
  [/^Field 'description'/, 'description-empty'],
  [/^Field 'compatibility'/, 'compatibility-type'],
  [/^Skill name .*exceeds/s, 'name-too-long'],
  [/^Skill name .*must be lowercase/s, 'name-uppercase'],
  [/^Skill name cannot start/, 'name-hyphen-edge'],
  [/^Skill name cannot contain/, 'name-hyphen-double'],
  [/^Skill name .*invalid characters/s, 'name-characters'],
  [/^Directory name/, 'name-directory-mismatch'],
  [/^Description exceeds/, 'description-too-long'],
  [/^Compatibility exceeds/, 'compatibility-too-long'],
  [/must start with/, 'frontmatter-missing'],
  [/not properly closed/, 'frontmatter-unclosed'],
  [/must be a YAML mapping/, 'frontmatter-not-mapping'],
  [/^Invalid YAML[^]*\nFound ugly disallowed JSONesque/, 'yaml-flow-collection'],
  [/^Invalid YAML[^]*\nDuplicate key/, 'yaml-duplicate-key'],
  [/^Invalid YAML[^]*\nFound disallowed tag/, 'yaml-tag'],
  [/^Invalid YAML[^]*\nFound confusing disallowed anchor/, 'yaml-anchor'],
  [/^Invalid YAML[^]*found undefined alias/, 'yaml-anchor'],
  [/^Invalid YAML[^]*\nFound mapping with indentation/, 'yaml-indentation'],
  [/^Invalid YAML/, 'yaml-syntax'],
  [/^CRASH/, 'reference-crash'],
]
const classOf = (message) => classes.find(([pattern]) => pattern.test(message))?.[1] ?? message

const files = corpusFiles()
const random = randomFrom(Number(values.seed))
const child = spawn(python, [judge], { env: environment, stdio: ['pipe', 'pipe', 'inherit'] })
const answers = createInterface({ input: child.stdout })[Symbol.asyncIterator]()
let verdicts = 0
let kinds = 0
let valueDifferences = 0
for (let index = 0; index < Number(values.count); index += 200) {
  const batch = Array.from({ length: 200 }, (_, at) => [
    textOf(index + at),
    random.pick(directories),
  ])
  child.stdin.write(batch.map((entry) => `${JSON.stringify(entry)}\n`).join(''))
  for (const [text, directory] of batch) {
    const { value } = await answers.next()
    compare(text, directory, JSON.parse(value))
  }
}
child.stdin.end()
console.log(
  `${values.count} texts: ${verdicts} verdicts, ${kinds} classes of errors, ${valueDifferences} values differ`,
)
process.exitCode = verdicts + kinds + valueDifferences === 0 ? 0 : 1

function textOf(index) {
  if (index < files.length) return files[index]
  if (index % 3 === 0 || files.length === 0) return grammarText(random)
  return index % 3 === 1 ? ordinaryText(random) : mutatedText(random, random.pick(files))
}

function compare(text, directory, { errors: theirs, texts }) {
  const directoryName = directory === '.' ? '' : (directory ?? undefined)
  const { diagnostics } = validateReference(text, { path: 'SKILL.md', directoryName })
  const ours = diagnostics.map(({ code }) => kindOf(code))
  const expected = theirs.map((error) => kindOf(classOf(error)))
  compareTexts(text, texts)
  if (JSON.stringify(ours) === JSON.stringify(expected)) return
  if ((ours.length === 0) === (expected.length === 0)) kinds++
  else verdicts++
  if (verdicts + kinds > Number(values.show)) return
  console.log(
    JSON.stringify({
      text,
      directory,
      theirs,
      ours: diagnostics.map((d) => `${d.code}: ${d.message}`),
    }),
  )
}

/** Flow collections, tags and anchors are refused at once, whatever else is wrong beside them. */
function kindOf(code) {
  return /^(?:yaml-(?:flow-collection|tag|anchor|syntax)|reference-crash)$/.test(code)
    ? 'yaml'
    : code
}

/** Two escaped surrogates are two characters to Python and one to JavaScript; ours are U+FFFD. */
function same(value) {
  const surrogate = /\\ud[89a-f][0-9a-f]{2}|[\ud800-\udfff]/gi
  return JSON.stringify(value).replaceAll(surrogate, '\ufffd')
}

/** The values of the fields themselves, which most rules do not show. */
function compareTexts(text, theirs) {
  if (theirs === undefined) return
  const plain = text.replaceAll(/\r\n?/g, '\n')
  const fields = readReferenceFields(plain.slice(3, plain.indexOf('---', 3)))
  const ours = fields.map((field) => [field.name, field.text ?? null])
  if (same(ours) === same(theirs)) return
  valueDifferences++
  if (valueDifferences <= Number(values.show)) console.log(JSON.stringify({ text, theirs, ours }))
}

function corpusFiles() {
  try {
    const names = readdirSync(corpus, { recursive: true })
    const skills = names.filter((name) => name.endsWith('SKILL.md')).toSorted()
    return skills.map((name) => readFileSync(path.join(corpus, name), 'utf8').slice(0, 3000))
  } catch {
    return []
  }
}
