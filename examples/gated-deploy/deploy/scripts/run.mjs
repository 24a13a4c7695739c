import { copyFileSync } from 'node:fs'
import { join } from 'node:path'

const [target] = process.argv.slice(2)
copyFileSync(join(process.env.SKILLRAIL_SCRATCH, 'index.html'), join(target, 'index.html'))
console.log(`published into ${target}`)
