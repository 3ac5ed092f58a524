import '@fontsource-variable/figtree/wght.css'
import './styles/tokens.css'
import './styles/base.css'
import './styles/frame.css'
import './styles/controls.css'
import './styles/data.css'
import './styles/screens.css'
import { render } from 'preact'
import { App } from './shell/app.tsx'
import { escapeTurns } from './ui/direction.ts'

escapeTurns()
const page = document.getElementById('page')
if (page) render(<App />, page)
