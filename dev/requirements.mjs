// Prints, as Markdown, which test shows each row of the requirements for skills and subagents.
import { sections } from '../test/requirements/rows.ts'

const rows = sections.flatMap((section) => section.rows)
const count = (isCounted) => rows.filter(isCounted).length

process.stdout.write(`# Coverage of the requirements

${rows.length} rows: ${count(({ tests }) => tests !== undefined)} have a test, ${count(({ bench }) => bench !== undefined)} are measured, ${count(({ differs }) => differs !== undefined)} differ with a reason.
\`npm run test:requirements\` runs the tests on the packed and installed package.

${sections.map(section).join('\n')}`)

function section({ title, rows }) {
  const lines = rows.map((row) => `| ${row.id} | ${cell(row.asks)} | ${cell(proof(row))} |`)
  return `## ${title}\n\n| row | asks for | shown by |\n| --- | --- | --- |\n${lines.join('\n')}\n`
}

function proof({ tests = {}, bench, differs }) {
  const titles = Object.entries(tests).flatMap(([file, names]) =>
    names.map((name) => `\`${file}\`: ${name}`),
  )
  return [
    ...titles,
    ...(bench === undefined ? [] : [`measured by \`${bench}\``]),
    ...(differs === undefined ? [] : [`differs: ${differs}`]),
  ].join('<br>')
}

function cell(text) {
  return text.replaceAll('|', String.raw`\|`)
}
