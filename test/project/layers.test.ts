import { readdirSync, readFileSync } from 'node:fs'
import { dirname, join, relative, resolve } from 'node:path'
import { expect, it } from 'vitest'
import { importableFrom, layers } from '../../dev/layers.mjs'

const source = new URL('../../src', import.meta.url).pathname

const files = readdirSync(source, { recursive: true, encoding: 'utf8' }).filter((path) =>
  /\.tsx?$/.test(path),
)

it('knows the layer of every folder', () => {
  const folders = readdirSync(source, { withFileTypes: true })
    .filter((entry) => entry.isDirectory())
    .map((entry) => entry.name)
  expect(folders.toSorted()).toEqual(layers.flatMap((layer) => Object.keys(layer)).toSorted())
})

it('lets a folder import only folders of lower layers, types included', () => {
  const forbidden = files.flatMap((file) => {
    const allowed = importableFrom(folderOf(file))
    return localImports(file)
      .filter((target) => !allowed.includes(folderOf(target)))
      .map((target) => `${file} imports ${target}`)
  })
  expect(forbidden).toEqual([])
})

it('lets a command import only files of its own feature and of lower layers', () => {
  const strays = files
    .filter((file) => folderOf(file) === 'commands')
    .flatMap((file) =>
      localImports(file)
        .filter((target) => folderOf(target) === 'commands' && dirname(target) !== dirname(file))
        .map((target) => `${file} imports ${target}`),
    )
  expect(strays).toEqual([])
})

it('loads a command only from the registry', () => {
  const strays = files
    .filter((file) => folderOf(file) !== 'commands' && file !== 'cli/registry.ts')
    .flatMap((file) =>
      localImports(file)
        .filter((target) => folderOf(target) === 'commands')
        .map((target) => `${file} imports ${target}`),
    )
  expect(strays).toEqual([])
})

it('lets only some folders import a heavy package', () => {
  const allowed: Record<string, readonly string[]> = {
    ai: ['agent'],
    '@modelcontextprotocol': ['tools', 'mcp'],
    commander: ['cli'],
    yaml: ['skill'],
  }
  const strays = files.flatMap((file) =>
    importsOf(file)
      .map((target) => target.split('/')[0] ?? '')
      .filter((name) => allowed[name] !== undefined && !allowed[name].includes(folderOf(file)))
      .map((name) => `${file} imports ${name}`),
  )
  expect(strays).toEqual([])
})

it('ends the process only in the entries of programs', () => {
  const programs = ['rail/hook-main.ts', 'rail/rail-main.ts', 'skill/quick-validate.ts']
  const strays = files.filter(
    (file) =>
      folderOf(file) !== 'cli' &&
      !programs.includes(file) &&
      /process\.exit(?:Code)?\b/.test(readFileSync(join(source, file), 'utf8')),
  )
  expect(strays).toEqual([])
})

/** Files of `src` that a file imports, as paths below it. */
function localImports(file: string): string[] {
  return importsOf(file)
    .filter((target) => /^[.#]/.test(target))
    .map((target) =>
      target.startsWith('#')
        ? target.slice(1)
        : relative(source, resolve(source, dirname(file), target)),
    )
}

function importsOf(file: string): string[] {
  const text = readFileSync(join(source, file), 'utf8')
  const matches = text.matchAll(/(?:from|import\(|require\(|import)\s*['"]([^'"]+)['"]/g)
  return Array.from(matches, (match) => match[1] ?? '')
}

function folderOf(path: string): string {
  return path.split('/')[0] ?? ''
}
