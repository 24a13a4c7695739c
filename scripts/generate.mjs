// Writes the files that are made from the sources: the JSON Schema and the reference pages.
// With --check it writes nothing and fails when one of them is out of date.
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { generators } from './generators.mjs'

const check = process.argv.includes('--check')
let stale = 0

for (const { path, text } of await generators()) {
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
process.exitCode = check && stale > 0 ? 1 : 0

function readIfThere(path) {
  try {
    return readFileSync(path, 'utf8')
  } catch {
    return undefined
  }
}
