import { existsSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

const { output } = JSON.parse(readFileSync(0, 'utf8'))
const target = output.result.replace('published into ', '')
if (!existsSync(join(target, 'index.html'))) throw new Error('the page is not there')
