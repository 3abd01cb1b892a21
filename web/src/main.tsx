import './eval';
import { StrictMode } from 'react';
import { createRoot } from 'react-dom/client';
import { App } from './app';
import { adopt } from './signin';
import './style.css';

await adopt();
createRoot(document.getElementById('root')!).render(<StrictMode><App /></StrictMode>);
