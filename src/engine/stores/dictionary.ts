/**
 * The preset dictionary for compressing answers: text that many brands have in common, each value
 * with its likely successors, because a reference costs three bytes at any length. Its bytes never
 * change, since stored answers need them. An improved dictionary gets a new id.
 */

/** Names and codes of the countries, by region and subregion (ISO 3166, UN M49). */
const COUNTRIES = {
  'Africa/Northern Africa': 'Egypt EG',
  'Africa/Sub-Saharan Africa': 'Kenya KE, Nigeria NG, South Africa ZA',
  'Americas/Latin America and the Caribbean': 'Mexico MX',
  'Americas/Northern America': 'Canada CA, United States US',
  'Americas/South America': 'Argentina AR, Brazil BR, Chile CL, Colombia CO',
  'Asia/Eastern Asia': 'China CN, Hong Kong HK, Japan JP, South Korea KR, Taiwan TW',
  'Asia/South-eastern Asia':
    'Indonesia ID, Malaysia MY, Philippines PH, Singapore SG, Thailand TH, Vietnam VN',
  'Asia/Southern Asia': 'India IN',
  'Asia/Western Asia': 'United Arab Emirates AE, Israel IL, Saudi Arabia SA, Turkey TR',
  'Europe/Eastern Europe': 'Bulgaria BG, Czechia CZ, Hungary HU, Poland PL, Romania RO, Ukraine UA',
  'Europe/Northern Europe':
    'Denmark DK, Estonia EE, Finland FI, United Kingdom GB, Ireland IE, Lithuania LT, Norway NO, Sweden SE',
  'Europe/Southern Europe': 'Spain ES, Greece GR, Italy IT, Portugal PT',
  'Europe/Western Europe':
    'Austria AT, Belgium BE, Switzerland CH, Germany DE, France FR, Luxembourg LU, Netherlands NL',
  'Oceania/Australia and New Zealand': 'Australia AU, New Zealand NZ',
};

const CITIES =
  'Amsterdam, Atlanta, Austin, Bangalore, Barcelona, Beijing, Berlin, Boston, Brussels, California, ' +
  'Chicago, Cologne, Colorado, Copenhagen, Dallas, Denver, Dublin, Florida, Frankfurt, Geneva, ' +
  'Hamburg, Helsinki, Houston, Illinois, Lisbon, London, England, Los Angeles, Madrid, Massachusetts,' +
  ' Melbourne, Miami, Milan, Montreal, Munich, Bavaria, New Jersey, New York, Ontario, Osaka, Oslo, ' +
  'Palo Alto, Paris, Pennsylvania, Philadelphia, Portland, Prague, Rome, San Diego, San Francisco, ' +
  'San Jose, Seattle, Seoul, Shanghai, Shenzhen, Stockholm, Stuttgart, Sydney, New South Wales, Tel ' +
  'Aviv, Texas, Tokyo, Toronto, Vancouver, Vienna, Virginia, Warsaw, Washington, Zurich';

const INDUSTRIES =
  'Advertising 📣, Aerospace 🚀, Agriculture 🌾, Airlines ✈️, Apparel 👕, Arts and Entertainment 🎭, ' +
  'Automotive 🚗, Banking 🏦, Beauty 💄, Beverages 🥤, Biotechnology 🧬, Business Services 💼, Chemicals 🧪, ' +
  'Construction 🏗️, Consulting 📊, Consumer Electronics 📱, Cryptocurrency 🪙, E-Commerce 🛒, Education 🎓, ' +
  'Energy ⚡, Fashion 👗, Finance 💰, Food and Drink 🍽️, Games 🎮, Government 🏛️, Hardware 🖥️, Health 🏥, ' +
  'Hospitality 🛎️, Human Resources 👥, Insurance ☂️, Internet 🌐, Investment 📈, Law ⚖️, Logistics 📦, ' +
  'Manufacturing 🏭, Marketing 🎯, Media 📺, Mining ⛏️, Music 🎵, News 📰, Non-Profit 🤝, Payments 💳, ' +
  'Pharmaceuticals 💊, Real Estate 🏠, Restaurants 🍴, Retail 🛍️, Science 🔬, Security 🔒, Semiconductors 💾, ' +
  'Software 💻, Sports ⚽, Technology 🔌, Telecommunications 📡, Transportation 🚚, Travel 🧳';

const FONTS =
  'Arial, Barlow, DM Sans, Georgia, Helvetica Neue, IBM Plex Sans, Lato, Manrope, Merriweather, ' +
  'Montserrat, Noto Sans, Nunito, Open Sans, Oswald, Playfair Display, Plus Jakarta Sans, Poppins, ' +
  'PT Sans, Raleway, Roboto, Rubik, Source Sans Pro, Space Grotesk, Ubuntu, Work Sans, Inter';

const LINKS = ['crunchbase', 'github', 'youtube', 'instagram', 'facebook', 'linkedin', 'twitter'];
const KINDS = [
  ...['EDUCATIONAL', 'SELF_EMPLOYED', 'SELF_OWNED', 'PARTNERSHIP'],
  ...['GOVERNMENT_AGENCY', 'NON_PROFIT', 'PUBLIC_COMPANY', 'PRIVATELY_HELD'],
];
const EMPLOYEES = [1, 2, 11, 51, 201, 501, 1001, 5001, 10001];

/** Typical descriptions of companies. */
const PROSE = `
The company was founded in 19 by two brothers and is headquartered in the city of its founders. It was \
founded in 20 and has offices around the world.
is a leading global provider of products and services for customers in more than 100 countries. The group \
employs more than 10,000 people worldwide.
is an American multinational corporation that designs, develops, manufactures and sells consumer goods, \
electronics, computer software and related services.
is a German manufacturer of machines, tools, engines, vehicles and components for the automotive industry. \
The family-owned business has workshops and factories.
is a British retailer with stores across the country and an online shop for clothing, shoes, furniture, \
food, toys and household goods at low prices.
is a French fashion house known for its perfumes, leather goods, jewellery and watches. The brand belongs \
to the largest luxury group.
is a Japanese maker of cameras, printers, medical equipment and semiconductors. Its products are used in \
hospitals, schools and laboratories.
is a financial services company that offers banking, insurance, payments, loans, mortgages, pensions, \
investment funds and asset management to private and business clients.
is a cloud-based platform that helps teams, developers and small businesses to build, manage, automate, \
share, test and deliver their work. It can be used for free; larger teams pay a monthly subscription.
is an online marketplace that connects buyers and sellers, guests and hosts, drivers and passengers, \
patients and doctors, students and teachers.
is a social network where people share photos, videos, messages and music with friends. It earns most of \
its revenue from advertising.
is a pharmaceutical company that researches, develops and markets medicines, vaccines and treatments for \
cancer, diabetes and rare diseases.
is an energy company that produces and delivers oil, natural gas, electricity, heat and renewable power \
from wind, water and the sun.
is an airline that flies to destinations in Europe, Asia, Africa, North America and South America from its \
hub. It carries passengers and freight; travellers book flights, hotels and rental cars.
is a non-profit organization that supports communities, children, research, education, health, nature and \
the environment through donations and the work of volunteers.
is a public university with faculties of law, medicine, engineering, science, economics and the arts. It \
has students, teachers and alumni from all over the world.
is a telecommunications operator whose networks provide mobile, broadband, internet and television services \
to millions of households.
is a consulting firm that advises governments, institutions, banks and other organizations on strategy, \
technology and operations.
is a logistics company that transports, stores and delivers parcels, containers and goods by road, rail, \
sea and air.
is a restaurant chain that serves coffee, bread, pizza, burgers and salads. Farmers and bakers in the \
region deliver to the kitchen.
is a cryptocurrency exchange and wallet. Its token secures a decentralized network, and holders vote on the \
protocol, the blockchain and the treasury.
is a media company that publishes newspapers, magazines, books, films, games, podcasts and television \
programmes. Readers and viewers subscribe online.
is a provider of exchange-traded funds that track stocks, bonds, commodities or real estate at low cost. \
Its shares are traded on the stock exchange.
Its mission is to make technology accessible to everyone, everywhere. Founded by engineers and scientists, \
it has been listed on the stock exchange since 2004, and its headquarters are in the south of the country.
Our mission is to help you with our solutions. We are a team of people who believe in better design, \
quality and innovation. Learn more about us. Contact us today. Get started for free. All rights reserved. \
Official website. Visit our website to discover the latest news, products and offers. Sign up for our \
newsletter. Shop online with free shipping and easy returns.
It operates through three segments and is one of the largest of its kind in the world. Customers include \
companies of all sizes, from startups to enterprises, in industries such as retail, manufacturing, health \
care, hospitality and education. With subsidiaries, partners and distributors it serves local and \
international markets.
Personal blog about software, photography, cooking, travel and family life. Notes, essays and projects of a \
private person.
Das Unternehmen wurde im Jahr 19 gegründet und hat seinen Sitz in Deutschland. Es entwickelt, produziert \
und vertreibt Produkte und Dienstleistungen für die Industrie, den Handel und private Kunden.
L'entreprise a été fondée en 19 et son siège se trouve à Paris. Elle propose des produits et des services \
pour les particuliers et les professionnels dans le monde entier.
La empresa fue fundada en 19 y tiene su sede en Madrid. Ofrece productos y servicios para particulares y \
empresas en todo el mundo.`;

/** The start of the list of a logo's or an image's addresses. */
const ASSET = '"formats":[{"src":"https://';
const BACKGROUNDS = ['"transparent"', 'null'];
const TAGS = ['"photographic","portrait"', '"portrait"', '"photographic"', ''];

function each<T>(values: readonly T[], write: (value: T) => string): string {
  return values.map(write).join('');
}
const lines = (text: string) => text.trim().split('\n');

/** Sorted by code, with the United States last: the compressor tries the end first. */
function countries() {
  const all = Object.entries(COUNTRIES).flatMap(([place, names]) => {
    const [region, subregion] = place.split('/');
    const split = (name: string) => ({ country: name.slice(0, -3), code: name.slice(-2) });
    return names.split(', ').map((name) => ({ ...split(name), region, subregion }));
  });
  const order = ({ code }: (typeof all)[number]) => (code === 'US' ? 'ZZ' : code);
  return all.sort((one, other) => (order(one) < order(other) ? -1 : 1));
}

function makeTexts(): string {
  return [
    each(lines(PROSE), (line) => `${line} `),
    each(CITIES.split(', '), (city) => `"city":"${city}","country":"`),
    each(INDUSTRIES.split(', '), (industry) => {
      const end = industry.lastIndexOf(' ');
      const [name, emoji] = [industry.slice(0, end), industry.slice(end + 1)];
      const slug = name.toLowerCase().replaceAll(' ', '-');
      return `","slug":"${slug}","name":"${name}","emoji":"${emoji}","parent":[{"id":"`;
    }),
    '"name":"","emoji":"","parent":{"id":"","emoji":"","name":"","slug":""},"slug":"","score":0.,' +
      '"id":"","parent":null,',
    each(FONTS.split(', '), (font) => {
      const from = `"origin":"google","originId":"${font}","weights":[400`;
      return `"name":"${font}","type":"title",${from},"name":"${font}","type":"body",${from}`;
    }),
  ].join('');
}

function makeAssets(): string {
  const sizes = ['null,"width":null', '630,"width":1200', '500,"width":1500', '400,"width":400'];
  const formats = ['jpeg', 'webp', 'png', 'svg'];
  return [
    each(sizes, (size) =>
      each(formats, (format) => `.${format}","format":"${format}","height":${size},"size":`),
    ),
    each(BACKGROUNDS, (back) =>
      each(
        formats,
        (format) => `","background":${back},"format":"${format}","height":null,"width":null,"size":`,
      ),
    ),
    each(['other', 'banner'], (type) =>
      each(TAGS, (tags) => `"}],"tags":[${tags}],"type":"${type}"}],"qualityScore":0.`),
    ),
    each(['other', 'symbol', 'icon', 'logo'], (type) => {
      const next = ['null', '"dark"', '"light"'].map((theme) => `,{"theme":${theme},${ASSET}`);
      const ends = [...next, '],"colors":[{"hex":"#'];
      const tagged = each(TAGS, (tags) => `"}],"tags":[${tags}],"type":"${type}"}`);
      return (
        tagged +
        each(BACKGROUNDS, (back) =>
          each(ends, (end) => `,"background":${back}}],"tags":[],"type":"${type}"}${end}`),
        )
      );
    }),
    each(BACKGROUNDS, (back) => `,"background":${back}},{"src":"https://`),
  ].join('');
}

function makeFrame(): string {
  return [
    each(LINKS, (name) => `"},{"name":"${name}","url":"https://www.${name}.com/`),
    'https://www.linkedin.com/company/https://crunchbase.com/organization/' +
      'https://www.youtube.com/channel/https://x.com/',
    '","type":"body","origin":"custom","originId":null,"weights":[]},{"name":null,"type":"title",' +
      '"origin":"system","originId":null,"weights":[300,400,500,600,700,800,900]}],"images":[],' +
      '"images":[{',
    ASSET,
    each(
      ['700', '400', '400,500,600,700', '600,700', '400,700'],
      (weights) => `,"weights":[${weights}]}],"images":[{${ASSET}","weights":[${weights}]},{"name":"`,
    ),
    '","type":"body","origin":"custom","originId":"","type":"title","origin":"google","originId":"',
    '{"hex":"#ffffff","type":"light","brightness":255},{"hex":"#000000","type":"dark",' +
      '"brightness":0},{"hex":"#","type":"accent","brightness":1',
    each(['palette', 'brand', 'light', 'dark', 'accent'], (type) => `","type":"${type}","brightness":`),
    '}],"fonts":[],"images":[]}],"fonts":[{"name":"',
    each(EMPLOYEES, (band) =>
      each(
        ['19', '20'],
        (century) =>
          `,"company":{"employees":${band},"financialIdentifiers":{"isin":[],"ticker":[]},` +
          `"foundedYear":${century}`,
      ),
    ),
    '"financialIdentifiers":{"isin":["US"],"ticker":[""]},"foundedYear":18,"industries":[{"id":"","score":0.',
    '"company":null,"company":{"employees":null,"financialIdentifiers":{"isin":null,"ticker":null},' +
      '"foundedYear":null,"industries":null,"kind":null,"location":{"city":null,"country":null,' +
      '"countryCode":null,"region":null,"state":null,"subregion":null}},"isNsfw":false,"urn":"urn:',
    each(KINDS, (kind) => `"}]}],"kind":"${kind}","location":{"city":"`),
    '","country":"","countryCode":"","region":"","state":"","subregion":""}},"isNsfw":true,"urn":"urn:',
    each(countries(), ({ country, code, region, subregion }) => {
      const place = `"country":"${country}","countryCode":"${code}","region":"${region}"`;
      return `",${place},"state":"","subregion":"${subregion}"}},"isNsfw":false,"urn":"urn:`;
    }),
    each(['de', 'io', 'org', 'net', 'co.uk', 'fr', 'com'], (end) =>
      each(['true', 'false'], (claimed) => `.${end}","claimed":${claimed},"description":"`),
    ),
    each(['null', '""'], (none) => `,"description":${none},"longDescription":${none},"links":[],"logos":[]`),
    each(
      ['null', '"light"', '"dark"'],
      (theme) => `.","links":[],"logos":[{"theme":${theme},"formats":[{"src":"https://assets.`,
    ),
    each(LINKS, (name) => `.","links":[{"name":"${name}","url":"https://${name}.com/`),
    '"}],"logos":[{"theme":"dark",{"id":"id_","name":null,"name":"","domain":".","longDescription":"',
  ].join('');
}

/** Builds the bytes of dictionary 1. */
export function makeDictionary(): Buffer {
  return Buffer.from(makeTexts() + makeAssets() + makeFrame());
}
