// The styles of a conversation, in their order: for the page, and for the page in the frame of the widget.
import './tokens.css';
import './code.css';
import './base.css';
import '../ui/ui.css';
import '../ask/ask.css';
import '../parts/parts.css';
import '../conversation/conversation.css';
import '../compose/compose.css';
