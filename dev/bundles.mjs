// What the build of the npm package and that of the packages of clients have in common.
import { readdirSync, readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { rolldown } from 'rolldown'
import { viewPage } from './view-page.mjs'

/** Libraries that are part of what is built: they are no dependencies of the package. */
const joined = String.raw`js-yaml|porter2|unbash|zod\/mini`
const isOutside = new RegExp(`^(?![./#\\0]|(?:${joined})$)`)

export async function bundle(input, output, options = {}) {
  // Every command reads frontmatter; a library in a file of its own would cost each start more. The hook
  // has no `node_modules` beside it.
  const external = (name) => isOutside.test(name)
  const build = await rolldown({ input, platform: 'node', external, ...options })
  const { output: written } = await build.write(output)
  await build.close()
  refuseCircles(written)
  return written
}

/**
 * Files that load each other find the other one half done. Modules grouped by hand make such circles
 * where there was none; the group then lacks a module.
 *
 * @param {readonly { fileName: string, imports?: readonly string[] }[]} files
 */
function refuseCircles(files) {
  const imports = new Map(files.map((file) => [file.fileName, file.imports ?? []]))
  const done = new Set()
  const visit = (name, way) => {
    if (way.includes(name)) {
      throw new Error(`files of dist load each other: ${[...way, name].join(' > ')}`)
    }
    if (done.has(name)) return
    for (const next of imports.get(name) ?? []) visit(next, [...way, name])
    done.add(name)
  }
  for (const name of imports.keys()) visit(name, [])
}

/**
 * commander loads `node:child_process` for commands in files of their own, which are not used here:
 * a fifth of the start of a command. It is joined to the command line so that this can wait.
 */
export function commanderInside() {
  const id = '\0lazy-child-process'
  const isForCommander = (name, importer) =>
    name === 'node:child_process' && importer?.includes('/commander/') === true
  const plugin = {
    name: 'lazy-child-process',
    resolveId: (name, importer) => (isForCommander(name, importer) ? id : undefined),
    load: (name) =>
      name === id
        ? `exports.spawn = (...given) => process.getBuiltinModule('node:child_process').spawn(...given)`
        : undefined,
  }
  return {
    plugins: [plugin],
    external: (name, importer) =>
      name !== 'commander' && isOutside.test(name) && !isForCommander(name, importer),
  }
}

/** The page of the local view is text by now: nothing of it is joined, or even there, later. */
export async function pageInside() {
  const text = JSON.stringify(await viewPage())
  return {
    name: 'page-inside',
    load: (id) =>
      id.endsWith('/src/view/page-text.ts')
        ? `export const pageText = () => Promise.resolve(${text})`
        : undefined,
  }
}

/**
 * A program as one file, which needs nothing beside it: the hook for the packages of clients, and the process
 * that works on a rail.
 */
export async function asOneFile(input, libraries, plugins = []) {
  const build = await rolldown({
    input,
    platform: 'node',
    // A rail has no model of its own and runs on the journal engine.
    external: (name) => /^node:|^#agent\/|^#chain\/restate\//.test(name),
    resolve: { mainFields: ['module', 'main'] },
    plugins: [...plugins, librariesInside(libraries)],
    treeshake: { moduleSideEffects: (id) => /(?:hook|rail)-main/.test(id) },
  })
  const { output } = await build.generate({
    format: 'cjs',
    exports: 'named',
    codeSplitting: false,
    minify: true,
  })
  await build.close()
  if (output.length !== 1) throw new Error(`${input} is ${output.length} files instead of one`)
  return output[0].code
}

/**
 * The command line with all its libraries, for a place without `node_modules`. Only the AI SDK and Restate, which
 * a user chooses, stay outside.
 */
export async function bundleCommandLine(directory) {
  const { plugins } = commanderInside()
  const libraries = librariesInside(['diff', 'jsonc-parser', 're2js', 'smol-toml', 'zod'])
  const output = { dir: directory, format: 'cjs', minify: true }
  const names = { entryFileNames: '[name].cjs', chunkFileNames: '[name].cjs' }
  const written = await bundle(
    { bin: 'src/cli/bin.ts' },
    { ...output, ...names },
    {
      external: (name) => /^node:|^ai$|^@ai-sdk\/|^@restatedev\//.test(name),
      resolve: { mainFields: ['module', 'main'] },
      preserveEntrySignatures: 'allow-extension',
      plugins: [...plugins, libraries, await pageInside()],
      treeshake: {
        moduleSideEffects: (id) => /cli\/bin\.ts$|\/node_modules\//.test(id),
      },
    },
  )
  writeFileSync(join(directory, 'LICENSES'), licencesOf(written))
}

/** The licences of the libraries in these files, which are joined without their comments. */
function licencesOf(written) {
  const modules = written.flatMap(({ moduleIds = [] }) => moduleIds)
  const folders = modules.flatMap(
    (id) => /^.*\/node_modules\/(?:@[^/]+\/)?[^/]+(?=\/)/.exec(id)?.[0] ?? [],
  )
  const texts = [...new Set(folders)]
    .toSorted((a, b) => (a < b ? -1 : 1))
    .map((folder) => {
      const { name, version, license } = JSON.parse(
        readFileSync(join(folder, 'package.json'), 'utf8'),
      )
      const file = readdirSync(folder).find((entry) => /^licen[cs]e/i.test(entry))
      const text = file === undefined ? license : readFileSync(join(folder, file), 'utf8').trim()
      return `${name} ${version}\n\n${text}\n`
    })
  return texts.join(`\n${'-'.repeat(80)}\n\n`)
}

/** Joins libraries that are otherwise loaded when they are needed. */
function librariesInside(libraries) {
  return {
    name: 'libraries-inside',
    transform: (code) => ({
      code: code.replace(requiresOf(libraries), (_, name) => `require('${name}')`),
    }),
  }
}

/** Loads libraries from the folder `libraries` beside the file, where there is no `node_modules`. */
export function librariesBeside(libraries) {
  const call = 'createRequire(import.meta.url)'
  return {
    name: 'libraries-beside',
    transform: (code) => ({
      code: code.replace(requiresOf(libraries), (_, name) => `${call}('./libraries/${name}.cjs')`),
    }),
  }
}

function requiresOf(libraries) {
  const names = libraries.join('|')
  return new RegExp(String.raw`createRequire\(import\.meta\.url\)\('(${names})'\)`, 'g')
}
