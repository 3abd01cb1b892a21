import { lazy } from 'react';
import { Check, CircleHelp, X } from 'lucide-react';
import type { Score } from '../api/api';
import { Visible } from '../parts/visible';
import { Button } from '../ui/button';
import { Late } from '../ui/late';

const Popover = lazy(() => import('../ui/popover'));

/** So many scores have a chip each. More are one. */
const FEW = 3;

const ICONS = { pass: Check, fail: X, unknown: CircleHelp },
  WORDS = { pass: 'passed', fail: 'failed', unknown: 'not known' };

/** What needs a look comes first. */
const ORDER = ['fail', 'unknown', 'pass'];
const sorted = (scores: Score[]) => [...scores].sort((a, b) => ORDER.indexOf(a.verdict) - ORDER.indexOf(b.verdict));

const numberOf = ({ score }: Score) => (score === undefined ? '' : ` ${Math.round(score * 100) / 100}`);

/** What graders found in a turn. The reasons are in the panel of a chip. */
export function Scores({ scores }: { scores: Score[] }) {
  if (scores.length <= FEW)
    return scores.map(s => (
      <Chip key={`${s.case ?? ''}\n${s.name}`} verdict={s.verdict} said={`${s.name}${numberOf(s)}`} told={WORDS[s.verdict]} scores={[s]} />
    ));
  const count = (verdict: Score['verdict']) => scores.filter(s => s.verdict === verdict).length;
  const verdict = count('fail') ? 'fail' : count('unknown') ? 'unknown' : 'pass';
  return <Chip verdict={verdict} said={`${count('pass')} of ${scores.length} passed`} scores={scores} />;
}

/** said: what is seen. told: what only the picture shows. */
function Chip({ verdict, said, told, scores }: { verdict: Score['verdict']; said: string; told?: string; scores: Score[] }) {
  const Icon = ICONS[verdict];
  const button = (
    <Button look="quiet" small className={`score ${verdict}`} title={scores.length === 1 ? scores[0]!.reason : undefined}>
      <Icon aria-hidden="true" />
      <span className="score-name">
        <Visible text={said} />
      </span>
      {told && <span className="unseen">: {told}</span>}
    </Button>
  );
  return (
    <Late kind="dialog" trigger={button}>
      {opened => (
        <Popover title="What the graders found" align="start" {...opened}>
          <div className="scores" role="region" aria-label="Scores" tabIndex={0}>
            {sorted(scores).map(s => (
              <One key={`${s.case ?? ''}\n${s.name}`} score={s} />
            ))}
          </div>
        </Popover>
      )}
    </Late>
  );
}

function One({ score }: { score: Score }) {
  const Icon = ICONS[score.verdict],
    from = [score.case, score.by && `by ${score.by}`].filter(Boolean).join(', ');
  return (
    <div className={`score ${score.verdict}`}>
      <p>
        <Icon aria-hidden="true" />
        <strong>
          <Visible text={score.name} />
        </strong>{' '}
        {WORDS[score.verdict]}
        {numberOf(score)}
      </p>
      {score.reason && (
        <p className="reason">
          <Visible text={score.reason} />
        </p>
      )}
      {from && (
        <p className="note">
          <Visible text={from} />
        </p>
      )}
    </div>
  );
}
