import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, it } from 'vitest'

const root = join(import.meta.dirname, '../..')
const text = (path: string): string => readFileSync(join(root, path), 'utf8')

interface PackageFile {
  dependencies: Readonly<Record<string, string>>
  devDependencies: Readonly<Record<string, string>>
}

const { dependencies, devDependencies }: PackageFile = JSON.parse(text('package.json'))
const page = text('docs/internals/dependencies.md')

it('gives a reason for every runtime dependency', () => {
  const [installed = ''] = page.split('\n## ')
  const rows = installed.split('\n').filter((line) => line.startsWith('| `'))
  const explained = rows.flatMap((row) => [...(row.split('|')[1] ?? '').matchAll(/`([^`]+)`/g)])
  const names = explained.map(([, name = '']) => name)
  expect(names.toSorted()).toEqual(Object.keys(dependencies).toSorted())
})

it('names every development dependency', () => {
  const missing = Object.keys(devDependencies).filter((name) => {
    const short = name.replace(/^@ai-sdk\//, '')
    return !page.includes(`\`${name}\``) && !page.includes(`\`${short}\``)
  })
  expect(missing).toEqual([])
})
