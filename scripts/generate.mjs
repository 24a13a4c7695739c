// Writes the files that are made from the sources: the JSON Schema, the reference pages and the packages
// for agent clients. With --check it writes nothing and fails when one of them is out of date. A file that
// cannot be made complete always fails.
import { generators } from './generators.mjs'
import { isUpToDate } from './plugins.mjs'

const check = process.argv.includes('--check')
let stale = 0
let incomplete = 0

for (const { problems = [], ...file } of await generators()) {
  for (const problem of problems) console.error(`${file.path}: ${problem}`)
  incomplete += problems.length
  if (isUpToDate(file, check)) continue
  stale++
  if (check) console.error(`${file.path} is out of date: run npm run generate`)
  else console.log(`wrote ${file.path}`)
}
process.exitCode = (check && stale > 0) || incomplete > 0 ? 1 : 0
