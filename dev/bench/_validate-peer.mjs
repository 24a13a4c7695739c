// Validates every skill below a folder with the npm package skills-ref, in one process. The walk is
// the cheapest there is: it does not look below a skill.
import { readdirSync } from 'node:fs'
import path from 'node:path'
import { pathToFileURL } from 'node:url'

const [peers, root] = process.argv.slice(2)
const entry = path.join(peers, 'node_modules/skills-ref/dist/index.js')
const { validate } = await import(pathToFileURL(entry).href)
let valid = 0
const folders = [root]
for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
  const items = readdirSync(folder, { withFileTypes: true })
  if (items.some(({ name }) => name === 'SKILL.md')) {
    if ((await validate(folder)).length === 0) valid++
    continue
  }
  for (const item of items) if (item.isDirectory()) folders.push(path.join(folder, item.name))
}
console.log(valid)
