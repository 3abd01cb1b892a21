import { Component, type ReactNode } from 'react';

interface Props {
  of?: unknown;
  instead: ReactNode;
  children: ReactNode;
}

/** Shows something else in the place of what cannot be drawn, until that changes (of), so that the rest of the page stays. */
export class Guard extends Component<Props, { failed: boolean }> {
  override state = { failed: false };

  static getDerivedStateFromError = () => ({ failed: true });

  override componentDidUpdate(before: Props) {
    if (this.state.failed && before.of !== this.props.of) this.setState({ failed: false });
  }

  override render() {
    return this.state.failed ? this.props.instead : this.props.children;
  }
}
