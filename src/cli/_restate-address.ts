import { UsageError } from '../base/index.ts'
import type { ServerAddress } from '../chain/restate/index.ts'
import type { CommandContext } from './command.ts'

export interface AddressOptions {
  url?: string | undefined
  adminUrl?: string | undefined
}

const adminPort = '9070'

/** Where the Restate server is: the options of the command, else the settings. */
export function serverAddress(
  { settings }: Pick<CommandContext, 'settings'>,
  options: AddressOptions = {},
): ServerAddress {
  const { token, ...set } = settings.restate
  const url = checked(options.url ?? set.url)
  const admin = options.adminUrl ?? set.adminUrl
  return {
    url: url.href,
    adminUrl: admin === '' ? besides(url) : checked(admin).href,
    ...(token === '' ? {} : { token }),
  }
}

/** On the same machine, at the port that a server has by default. */
function besides(url: URL): string {
  const admin = new URL(url)
  admin.port = adminPort
  return admin.href
}

function checked(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  throw new UsageError({
    code: 'wrong-use',
    message: `${text} is no address of a server`,
    hint: 'It looks like http://127.0.0.1:8080.',
  })
}
