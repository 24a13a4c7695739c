/**
 * The page as one text, with nothing that is loaded from elsewhere. In what is published the build has
 * put the finished text in the place of this file; from the sources it is joined when it is required.
 */
export async function pageText(): Promise<string> {
  const maker = new URL('../../scripts/view-page.mjs', import.meta.url)
  const { viewPage }: { viewPage(): Promise<string> } = await import(maker.href)
  return await viewPage()
}
