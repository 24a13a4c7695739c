// Writes the files that are made from the sources: the JSON Schema and the reference pages.
// With --check it writes nothing and fails when one of them is out of date. A file that cannot be made
// complete always fails.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generators } from './generators.mjs'

const check = process.argv.includes('--check')
let stale = 0
let incomplete = 0

for (const { path, text, problems = [] } of await generators()) {
  for (const problem of problems) console.error(`${path}: ${problem}`)
  incomplete += problems.length
  if (readIfThere(path) === text) continue
  stale++
  if (check) {
    console.error(`${path} is out of date: run npm run generate`)
  } else {
    mkdirSync(dirname(path), { recursive: true })
    writeFileSync(path, text)
    console.log(`wrote ${path}`)
  }
}
process.exitCode = (check && stale > 0) || incomplete > 0 ? 1 : 0

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
