// Measures which skill a prompt means, without examples and with the other prompts as examples, in
// tenfold cross-validation, and what fires from the fixed probability on. SKILLRAIL_BENCH is the folder
// with `activation/skills` and `activation/dev.jsonl` (default ../shared/bench).
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import path from 'node:path'
import { prepareRanker } from '../../src/rank/ranker.ts'
import { skillDocuments } from '../../src/trigger/examples.ts'
import { judge, matchesOf, sureFrom } from '../../src/trigger/judge.ts'
import { foldsOf } from './_statistics.mjs'

const root = path.resolve(import.meta.dirname, '../..')
const data = path.resolve(process.env.SKILLRAIL_BENCH ?? path.join(root, '../shared/bench'))
const skills = path.join(data, 'activation/skills')
const file = path.join(data, process.env.PROMPTS ?? 'activation/dev.jsonl')
const folds = 10

if (!existsSync(skills) || !existsSync(file)) {
  console.log('skipped: no skills with prompts (SKILLRAIL_BENCH)')
  process.exit(0)
}
const cases = readFileSync(file, 'utf8')
  .trim()
  .split('\n')
  .map((line) => JSON.parse(line))
const documents = skillDocuments(
  readdirSync(skills).map((name) => ({ name, path: path.join(skills, name, 'SKILL.md') })),
)

console.log(
  `examples      R@1   R@3   fires from ${sureFrom} on: precision, recall, unrelated prompts`,
)
for (const most of [0, 5, 10, Infinity]) {
  const { folds: foldOf } = foldsOf(cases.length, most === 0 ? 1 : folds)
  const results = []
  for (let fold = 0; fold < (most === 0 ? 1 : folds); fold++) {
    const taught = Map.groupBy(
      cases.filter(({ skill }, at) => skill !== null && foldOf[at] !== fold),
      ({ skill }) => skill,
    )
    const textsOf = (name) => (taught.get(name) ?? []).slice(0, most).map(({ prompt }) => prompt)
    const rank = prepareRanker(
      documents.map((one) => ({ ...one, examples: textsOf(one.id).map((text) => ({ text })) })),
    )
    cases.forEach((one, at) => {
      if (foldOf[at] === fold) results.push(resultOf(one, rank, textsOf))
    })
  }
  report(most, results)
}

function resultOf({ prompt, skill }, rank, textsOf) {
  const ids = rank(prompt).ranked.map(({ id }) => id)
  const verdict = judge(prompt, rank)
  const examples = textsOf(verdict?.name ?? '')
  const trigger = { match: '', inject: '', line: 1, when: { kind: 'examples', examples } }
  const meant = { name: verdict?.name ?? '', directory: '', path: '', triggers: [trigger] }
  // Without examples nothing fires; what would is what is sure.
  const fires =
    examples.length === 0 ? verdict?.isSure : matchesOf(prompt, verdict, meant).length > 0
  return { skill, place: ids.indexOf(skill), fires, isRight: fires && verdict.name === skill }
}

function report(most, results) {
  const meant = results.filter(({ skill }) => skill !== null)
  const fired = results.filter(({ fires }) => fires)
  const right = fired.filter(({ isRight }) => isRight).length
  const unrelated = fired.filter(({ skill }) => skill === null).length
  const percent = (part, whole) => ((100 * part) / Math.max(1, whole)).toFixed(1).padStart(5)
  const within = (places) => meant.filter(({ place }) => place >= 0 && place < places).length
  const name = most === Infinity ? 'all others' : most === 0 ? 'none' : `${most} a skill`
  console.log(
    `${name.padEnd(12)} ${percent(within(1), meant.length)} ${percent(within(3), meant.length)}` +
      `  ${percent(right, fired.length)}, ${percent(right, meant.length)}, ` +
      `${unrelated} of ${results.length - meant.length}`,
  )
}
