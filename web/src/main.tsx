import { createRoot } from 'react-dom/client';
import { App } from './app.js';
import { applySettings } from './settings.js';
import './styles/base.css';
import './styles/shell.css';
import './styles/parts.css';

applySettings();
const root = document.getElementById('root');
if (root !== null) createRoot(root).render(<App />);
