// Writes the files that are made from the sources: the JSON Schema, the reference pages and the packages
// for agent clients. With --check it writes nothing and fails when one of them is out of date.
import { generators } from './generators.mjs'
import { isUpToDate } from './plugins.mjs'

const check = process.argv.includes('--check')
let stale = 0

for (const file of await generators()) {
  if (isUpToDate(file, check)) continue
  stale++
  if (check) console.error(`${file.path} is out of date: run npm run generate`)
  else console.log(`wrote ${file.path}`)
}
process.exitCode = check && stale > 0 ? 1 : 0
