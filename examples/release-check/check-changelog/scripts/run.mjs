import { readFileSync } from 'node:fs'

const changelog = readFileSync('CHANGELOG.md', 'utf8')
const unreleased = /^## Unreleased\n([\s\S]*?)(?=^## |$(?![\s\S]))/m.exec(changelog)?.[1] ?? ''
const entries = unreleased.split('\n').filter((line) => line.startsWith('- '))

console.log(`${entries.length} entries under Unreleased`)
process.exitCode = entries.length > 0 ? 0 : 1
