// What matching costs, each number from a fresh process: 3,000 triggers on a prompt of 10 kB, and the
// slowest accepted patterns on a line of 10 kB. CPU time of the
// main thread, which is what a prompt waits for on a machine that has nothing else to do.
import { spawnSync } from 'node:child_process'
import { fileURLToPath } from 'node:url'

const self = fileURLToPath(import.meta.url)
const library = new URL('../../src/trigger/match.ts', import.meta.url).href
const runs = 11

const slow = [
  '^(a+)+$',
  '(a|b)*a(a|b){12}z',
  '(a|b)*a(a|b){55}z',
  '(a?){25}(a|b){25}z',
  '(.*a){20}z',
  'a.*a.*a.*b',
  '(a.|.a|ab|ba|.b|b.){9}z',
  '(?i)(a|b)*a(a|b){55}z',
  '(\\w+\\s?){28}z',
  '(\\pL|\\pN|a){55}z',
  '[ab]{1,30}[ab]{1,30}z',
  'a.{200}z',
  '(a|b)*a(a|b){160}z',
  '(a?){80}(a|b){80}z',
]

if (process.argv[2] === 'many') await many(process.argv[3] === 'first')
else if (process.argv[2] === 'one') await one(slow[Number(process.argv[3])])
else report()

function report() {
  const rows = [['3,000 triggers, 10 kB prompt, cold', median('many'), 60]]
  rows.push(['the same, 1,001 matches reported', median('many', 'first'), undefined])
  for (const [index, pattern] of slow.entries())
    rows.push([`\`${pattern}\`, 10 kB line`, median('one', index), 250])
  for (const [what, ms, limit] of rows) {
    const verdict =
      limit === undefined ? '' : ms <= limit ? `  (at most ${limit})` : `  OVER ${limit}`
    console.log(`${ms.toFixed(1).padStart(7)} ms  ${what}${verdict}`)
  }
}

function median(...args) {
  const times = Array.from({ length: runs }, () => {
    const { stdout, stderr } = spawnSync(process.execPath, [self, ...args.map(String)], {
      encoding: 'utf8',
    })
    if (stdout === '') throw new Error(stderr)
    return Number(stdout)
  })
  return times.toSorted((a, b) => a - b)[Math.floor(runs / 2)]
}

async function many(hits) {
  const { matchPrompt } = await import(library)
  const skills = Array.from({ length: 1000 }, (_, index) => {
    const name = `convert-invoice-${String(index).padStart(5, '0')}`
    const triggers = [
      { match: `^/${name} program`, inject: 'references/guide.md', line: 5 },
      { match: `^/${name} (amend|fix)( --[a-z-]+)*`, inject: 'references/api.md', line: 7 },
      {
        match: hits ? 'section' : `invoice-${index} (failed|error|broken)`,
        inject: 'references/faq.md',
        line: 9,
      },
    ]
    return { name, directory: `/skills/${name}`, path: `/skills/${name}/SKILL.md`, triggers }
  })
  const words =
    'the user wants you to read each file and then check that every section has a heading'
  const prompt = `/convert-invoice-00500 program\n${`${words} before output\n`.repeat(100)}`.slice(
    0,
    10_240,
  )
  const before = process.threadCpuUsage()
  const { matches } = matchPrompt(prompt, skills)
  const { user, system } = process.threadCpuUsage(before)
  if (matches.length !== (hits ? 1001 : 1)) throw new Error(`${matches.length} matches`)
  process.stdout.write(String((user + system) / 1000))
}

async function one(pattern) {
  const { matchPrompt } = await import(library)
  let state = 7
  const next = () => (state = (Math.imul(state, 1664525) + 1013904223) >>> 0) / 2 ** 32
  const line = `z${Array.from({ length: 10_239 }, () => (next() < 0.5 ? 'a' : 'b')).join('')}`
  const triggers = [{ match: pattern, inject: 'a.md', line: 1 }]
  const before = process.threadCpuUsage()
  const { diagnostics } = matchPrompt(line, [
    { name: 'a', directory: '/a', path: '/a/SKILL.md', triggers },
  ])
  const { user, system } = process.threadCpuUsage(before)
  if (diagnostics.length > 0) throw new Error(diagnostics[0].message)
  process.stdout.write(String((user + system) / 1000))
}
