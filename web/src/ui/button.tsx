import { forwardRef, type ComponentPropsWithoutRef, type ReactNode } from 'react';

export interface ButtonProps extends ComponentPropsWithoutRef<'button'> {
  look?: 'plain' | 'primary' | 'danger' | 'quiet';
  small?: boolean;
}

export const Button = forwardRef<HTMLButtonElement, ButtonProps>(function Button(
  { look = 'plain', small, className = '', type = 'button', ...rest },
  ref,
) {
  return <button ref={ref} type={type} className={`btn ${look}${small ? ' small' : ''} ${className}`} {...rest} />;
});

interface IconProps extends Omit<ComponentPropsWithoutRef<'button'>, 'aria-label'> {
  /** The name of the button, which is its tooltip, too. */
  label: string;
  /** The keys that do the same, for the tooltip. */
  keys?: string;
  small?: boolean;
  children?: ReactNode;
}

/** A button that shows only a picture; the browser's own tooltip says its name. */
export const IconButton = forwardRef<HTMLButtonElement, IconProps>(function IconButton(
  { label, keys, small, className = '', ...rest },
  ref,
) {
  return (
    <button
      ref={ref}
      type="button"
      aria-label={label}
      title={keys ? `${label} (${keys})` : label}
      className={`icon-btn${small ? ' small' : ''} ${className}`}
      {...rest}
    />
  );
});
