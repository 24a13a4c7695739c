import { posix } from 'node:path'
import { codeExtensions, sourceExtensions } from '#trust/file-kinds'
import { runners } from '#trust/runners'

/**
 * Whether a model may write a file of the project without an approval. Only plain text, data, media and
 * source code are free. Source code that tools load by its name is not, nor is any file that programs
 * start, load or obey by themselves.
 * @param path relative to the project, with `/`.
 */
export function isFreeToWrite(path: string): boolean {
  const names = path.toLowerCase().split('/')
  const file = names.at(-1) ?? ''
  // `.git`, `.npmrc` and `.vscode`. Some disks drop a dot or blank at the end of a name.
  if (names.some((name) => /^\.|[. ]$|[:~]/.test(name) || programFolders.has(name))) return false
  const extension = posix.extname(file).slice(1)
  const stem = file.slice(0, file.length - extension.length - 1)
  if (loadedNames.has(file) || instructionStems.has(stem) || loadedSource.test(file)) return false
  if (configurationExtensions.has(extension)) return names.length > 1
  return freeExtensions.has(extension)
}

/** Folders in which programs and modules are searched. */
const programFolders: ReadonlySet<string> = new Set(
  'node_modules site-packages venv env __pycache__ vendor'.split(' '),
)

/** Files that clients load in any folder as instructions or configuration, and that runners read first. */
const loadedNames: ReadonlySet<string> = new Set([
  ...runners.flatMap(({ reads }) => reads).map((name) => posix.basename(name).toLowerCase()),
  ...'opencode.json opencode.jsonc settings.json mcp.json hooks.json tasks.json launch.json'.split(
    ' ',
  ),
  ...'devcontainer.json skill.md conftest.py manage.py'.split(' '),
])

/** Names of Markdown files that agent clients read as instructions, in lower case. */
const instructionStems: ReadonlySet<string> = new Set(
  'agent agents claude claude.local codex copilot-instructions crush gemini qwen skill warp conventions'.split(
    ' ',
  ),
)

/** `vite.config.ts`, `jest.setup.js`, `gulpfile.js` and `noxfile.py`. */
const loadedSource =
  /(?:^|[.-])(?:config|conf|setup|rc|hooks?|plugin|preload)\.\w+$|file\.\w+$|^(?:build|index|main|mod)\.rs$/

/** Files of tools at the top of a project; in its folders they are mostly data. */
const configurationExtensions: ReadonlySet<string> = new Set(
  'json jsonc json5 toml xml yaml yml'.split(' '),
)

const startedByName: ReadonlySet<string> = new Set(
  'bat cmd kts mk ps1 psm1 applescript vbs'.split(' '),
)

const freeExtensions: ReadonlySet<string> = new Set([
  ...[...codeExtensions, ...sourceExtensions].filter((extension) => !startedByName.has(extension)),
  ...(
    'adoc astro bib c cc cpp css csv cxx diff eml geojson gif h hpp htm html ics ipynb jpeg jpg jsonl less ' +
    'log m4a markdown md mdx mp3 mp4 ndjson ogg parquet patch pdf png po proto rst rtf sass scss srt svelte ' +
    'svg tex text tiff tsv txt vtt vue wav webm webp'
  ).split(' '),
])
