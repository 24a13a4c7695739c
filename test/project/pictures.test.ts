import { readdirSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { expect, it } from 'vitest'
import { pictures } from '../../dev/pictures.mjs'
import { pages } from './_pages.ts'

const docs = fileURLToPath(new URL('../../docs', import.meta.url))
const made = Object.values(pictures).flatMap(({ files }) => files)

it('npm run pictures makes every picture and recording that exists, each once', () => {
  const folders = ['assets', 'recordings']
  const files = folders.flatMap((folder) =>
    readdirSync(join(docs, folder)).map((name) => `${folder}/${name}`),
  )
  expect(made.toSorted()).toEqual(files.toSorted())
})

it('every picture and recording is used by a page', () => {
  const used = pages.flatMap(({ path, text }) =>
    [...text.matchAll(/(?:\]\(|(?:src|srcset)=")([^\s)"]+\.(?:svg|png|cast))/g)].map(
      ([, file = '']) => join(dirname(path), file).replace(/^docs\//, ''),
    ),
  )
  expect(new Set(used)).toEqual(new Set(made))
})
