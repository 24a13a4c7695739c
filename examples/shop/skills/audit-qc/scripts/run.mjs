import { readdirSync, readFileSync } from 'node:fs'

const app = new URL('../../../app/', import.meta.url)
const sources = readdirSync(app).filter((name) => name.endsWith('.mjs'))
const errors = sources.flatMap((name) => {
  const lines = readFileSync(new URL(name, app), 'utf8').split('\n')
  const bare = lines.filter(
    (line, index) => line.startsWith('export') && !lines[index - 1]?.endsWith('*/'),
  )
  return bare.map((line) => `${name}: ${line}`)
})
const status = errors.length === 0 ? 'success' : 'failure'
console.log(
  JSON.stringify({
    status,
    result: `${errors.length} exports without a comment`,
    errors,
    metrics: {},
  }),
)
