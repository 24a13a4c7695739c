import * as fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { isFreeToWrite } from '../../../src/agent/built-in-tools/free-paths.ts'
import { runners } from '../../../src/trust/runners.ts'

const asked = (
  'CLAUDE.md AGENTS.md GEMINI.md Qwen.md sub/agents.md claude.local.md skills/a/SKILL.md .npmrc .gitlab-ci.yml ' +
  '.devcontainer/devcontainer.json .pre-commit-config.yaml lefthook.yml .pi/settings.json .github/workflows/a.yml ' +
  'node_modules/.bin/sh node_modules/a/index.js package.json packages/a/package.json Makefile makefile Justfile ' +
  'Dockerfile compose.yaml azure-pipelines.yml vite.config.ts sub/jest.setup.js gulpfile.js noxfile.py conftest.py ' +
  'setup.py build.rs bin/tool run a.bat a.ps1 a.exe a.so a.lnk venv/bin/python src/.envrc Procfile tsconfig.json ' +
  'Git~1/config .git./config a.txt:stream a.md. Cargo.toml a.csproj a.desktop a.service'
).split(' ')

const free = (
  'README.md CHANGELOG.md docs/guide.md notes.txt src/index.ts src/app/main.py lib/a.rb src/a.go data/users.json ' +
  'fixtures/a.yaml reports/out.csv public/index.html styles/a.css logo.svg scripts/run.sh i18n/de.po'
).split(' ')

describe('a file that a model writes without a question', () => {
  it.each(asked)('is not %s, which programs start, load or obey by themselves', (path) => {
    expect(isFreeToWrite(path)).toBe(false)
  })

  it.each(free)('can be %s', (path) => {
    expect(isFreeToWrite(path)).toBe(true)
  })

  it('is never a file that a runner reads first, in any folder and any case', () => {
    const names = runners.flatMap(({ reads }) => reads).filter((name) => !name.startsWith('*'))
    const folders = fc.array(fc.constantFrom('src', 'packages', 'a'), { maxLength: 3 })
    fc.assert(
      fc.property(fc.constantFrom(...names), folders, fc.boolean(), (name, above, isUpper) => {
        const path = [...above, isUpper ? name.toUpperCase() : name].join('/')
        expect(isFreeToWrite(path)).toBe(false)
      }),
    )
  })

  it('is never in a folder or a file that begins with a dot', () => {
    const word = fc.stringMatching(/^[a-z]{1,8}$/)
    fc.assert(
      fc.property(word, word, (one, other) => {
        expect(isFreeToWrite(`.${one}/${other}.md`)).toBe(false)
        expect(isFreeToWrite(`${other}/.${one}/a.md`)).toBe(false)
        expect(isFreeToWrite(`${other}/.${one}.md`)).toBe(false)
      }),
    )
  })
})
