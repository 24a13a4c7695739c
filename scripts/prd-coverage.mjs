// The page that says of every row of the requirements which test covers it. A test covers a row when
// its name begins with the row's id, or with several: `US-001 AC1, 5.1 edge 2: …`.
import { existsSync, readdirSync, readFileSync } from 'node:fs'
import { prdSections, rowId } from './prd-rows.mjs'

const named = new RegExp(`(['"\`])(${rowId}(?:, ${rowId})*)(?:: ((?:\\\\.|(?!\\1).)*))?\\1`, 'g')

/** @returns the page, and what keeps it from being complete, as sentences. */
export function prdCoverage() {
  const tests = findTests()
  const rows = prdSections.flatMap((section) => section.rows)
  const known = new Set(rows.map(([row]) => row))
  const problems = [
    ...rows.flatMap((row) => problemsOf(row, tests)),
    ...[...tests.keys()]
      .filter((row) => !known.has(row))
      .map((row) => `a test names the row ${row}, and there is no such row`),
  ]
  return { text: page(tests), problems }
}

/** Every row that a test names, with the files and names of its tests. */
function findTests() {
  const found = new Map()
  const files = readdirSync('test', { recursive: true, encoding: 'utf8' })
    .map((file) => `test/${file.replaceAll('\\', '/')}`)
    .filter((file) => /\.(?:test|crash|suite)\.ts$/.test(file))
    .toSorted()
  for (const file of files) {
    for (const [, , ids, name = ''] of readFileSync(file, 'utf8').matchAll(named)) {
      for (const row of ids.split(', ')) {
        found.set(row, [...(found.get(row) ?? []), { file, name: name.replaceAll('\\', '') }])
      }
    }
  }
  return found
}

function problemsOf([row, , { differs, bench } = {}], tests) {
  if (bench !== undefined) {
    const measured = existsSync(bench) && readFileSync(bench, 'utf8').includes(row)
    return measured ? [] : [`${row}: ${bench} does not measure it`]
  }
  if (tests.has(row) || differs !== undefined) return []
  return [`${row} has neither a test nor a reason why it differs`]
}

function page(tests) {
  const rows = prdSections.flatMap((section) => section.rows)
  const covered = rows.filter(([row]) => tests.has(row)).length
  const measured = rows.filter(([, , facts]) => facts?.bench !== undefined).length
  const differing = rows.filter(([, , facts]) => facts?.differs !== undefined).length
  const introduction = `Every acceptance criterion, edge case and error of the requirements for skills and
subagents, with the test that covers it. ${rows.length} rows: ${covered} have a test, ${measured} are
measured, ${differing} differ with a reason. A row without any of these fails \`npm test\`. \`npm run test:requirements\` runs them all on the
packed and installed package.`
  const sections = prdSections.map(
    ({ title, rows: own }) =>
      `## ${title}\n\n| row | asks for | shown by |\n| --- | --- | --- |\n${own
        .map((row) => `| ${row[0]} | ${cell(row[1])} | ${cell(proof(row, tests))} |`)
        .join('\n')}\n`,
  )
  return `# Coverage of the requirements\n\n<!-- Generated from the tests' names by npm run generate. -->\n\n${introduction}\n\n${sections.join('\n')}`
}

function proof([row, , { differs, bench } = {}], tests) {
  const shown = (tests.get(row) ?? []).map(({ file, name }) =>
    name === '' ? `\`${file}\`` : `\`${file}\`: ${name}`,
  )
  return [
    ...shown,
    ...(bench === undefined ? [] : [`measured by \`${bench}\``]),
    ...(differs === undefined ? [] : [`differs: ${differs}`]),
  ].join('<br>')
}

function cell(text) {
  return text.replaceAll('|', '\\|').replaceAll('\n', ' ')
}
