import { globSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { describe, expect, it } from 'vitest'
import { formerNames } from '../../src/core/former-names.ts'

// Messages, pages, skills, plugins, workflows and tests say the present names of commands.

const root = new URL('../..', import.meta.url).pathname

/** Where former names are the subject, and recordings of what was typed then. */
const exceptions =
  /^(?:CHANGELOG\.md|src\/core\/former-names\.ts|test\/(?:core|cli|project)\/former-names\.test\.ts|docs\/decisions\/2026-11-29-command-groups\.md|docs\/recordings\/.*)$/

const folders = '{.github,dev,docs,examples,plugins,schema,skills,src,test}'
const kinds = '{cast,js,json,md,mjs,mts,sh,ts,tsx,txt,yaml,yml}'
const files = [`*.${kinds}`, `.*.${kinds}`, `${folders}/**/*.${kinds}`]
  .flatMap((pattern) => globSync(pattern, { cwd: root, exclude: ['**/node_modules/**'] }))
  .filter((path) => !exceptions.test(path) && path !== 'package-lock.json')

const names = Object.keys(formerNames).toSorted((a, b) => b.length - a.length)
const afterProgram = new RegExp(
  String.raw`(?<![-/\w.@"])skillrail (?:-C \S+ )?(?:${names.join('|')})(?![-\w/:.])(?! is\b)`,
  'g',
)
/** Without the program, as in \`hook log\`: only names that are no plain words. */
const inTicks =
  /`(?:hook log|plugin pack|workflow (?:list|add|edit|enable|disable|remove|check|plan)|session (?:show|clear|list)|agents (?:list|show|validate)|(?:match|inject|index|prompt|worker) --[a-z]+)\b/g

describe('former names of commands', () => {
  it('occur in no text of the project', () => {
    expect(files.length).toBeGreaterThan(500)
    const found = files.flatMap((path) => {
      const text = readFileSync(join(root, path), 'utf8')
      return [afterProgram, inTicks].flatMap((form) =>
        Array.from(text.matchAll(form), ([match]) => `${path}: ${match}`),
      )
    })
    expect(found).toEqual([])
  })

  it('are found where they occur', () => {
    for (const name of names) expect(`Run: skillrail ${name} x`.match(afterProgram)).not.toBeNull()
    expect('See `hook log`.'.match(inTicks)).not.toBeNull()
    expect('The skillrail hooks, and skillrail prompts.'.match(afterProgram)).toBeNull()
  })
})
