/** What an operator does on the page, in one browser and on one host. */
import t from 'tap'
import { worksWithKeys } from './stories/keys.ts'
import { worksWithTheKeyboard } from './stories/keyboard.ts'
import { worksWithWebhooks } from './stories/webhooks.ts'
import { bringToLife, lively } from './support/life.ts'
import { withConsole } from './support/visit.ts'

t.test('an operator uses the page', async (t) => {
  await withConsole(t, lively(), async (visit) => {
    const life = await bringToLife(t, visit)
    const page = await visit.signedIn()
    await t.test('and works with webhooks, deliveries and inbound requests', (t) =>
      worksWithWebhooks(t, page, visit, life),
    )
    await t.test('and works with keys', (t) => worksWithKeys(t, page, visit, life))
    await t.test('and does everything with the keyboard, and never loses the focus', (t) =>
      worksWithTheKeyboard(t, visit),
    )
  })
})
