import { writeFileSync } from 'node:fs'
import { join } from 'node:path'

const page = '<!doctype html>\n<title>Shop</title>\n<p>Open.\n'
writeFileSync(join(process.env.SKILLRAIL_SCRATCH, 'index.html'), page)
console.log(`a page of ${page.length} characters`)
