/** The newest matches of a run. Their texts are the service's. Pure. */
import { qualityTier } from '../brand-api/brand.js';
import { scoreText } from '../core/figures.js';
import type { ShownMatch } from '../run/newest-matches.js';
import { Badge } from '../run/report/brands-section.js';
import { Card } from '../run/report/kit/parts.js';

/** `isGoing`: more may come. */
export function MatchesCard({ matches, isGoing }: { matches: readonly ShownMatch[]; isGoing: boolean }) {
  return (
    <Card id="matches" title="Newest matches" isPart>
      {matches.length === 0 ? (
        <p class="empty">{isGoing ? 'None yet.' : 'None are kept of this run.'}</p>
      ) : (
        <>
          <p class="note">With the quality score of each brand, from 0 to 1.</p>
          <ol class="brands matches">
            {matches.map((match) => (
              <MatchItem match={match} />
            ))}
          </ol>
        </>
      )}
    </Card>
  );
}

function MatchItem({ match: { identifier, name, score, color } }: { match: ShownMatch }) {
  return (
    <li>
      <Badge brand={{ name, color, logo: null }} />
      <span class="brand">
        <bdi class="brand-name">{name}</bdi>
        <bdi class="brand-domain">{identifier}</bdi>
      </span>
      {score === null ? (
        <span class="score calm">
          –<span class="unseen"> no score</span>
        </span>
      ) : (
        <span class={`score ${qualityTier(score)}`}>
          {scoreText(score)}
          <span class="unseen">, {qualityTier(score)}</span>
        </span>
      )}
    </li>
  );
}
