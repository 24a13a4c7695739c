import { readdirSync, readFileSync } from 'node:fs'

const app = new URL('../../../app/', import.meta.url)
const sources = readdirSync(app).filter((name) => name.endsWith('.mjs'))
const errors = sources.flatMap((name) => {
  const text = readFileSync(new URL(name, app), 'utf8')
  const long = text.split('\n').length > 200 ? [`${name} is too long`] : []
  const left = /console\.log|\bTODO\b/.test(text) ? [`${name} has leftovers`] : []
  return [...long, ...left]
})
const status = errors.length === 0 ? 'success' : 'failure'
console.log(
  JSON.stringify({ status, result: `${sources.length} sources reviewed`, errors, metrics: {} }),
)
