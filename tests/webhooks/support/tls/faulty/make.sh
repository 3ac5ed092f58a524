#!/bin/sh
# Made the certificates of this folder, with OpenSSL 3. All leaves share the key of leaf-key.pem; the
# keys of the authorities were thrown away. Each certificate is valid from 2000 to 2199, whatever the
# clock of the machine, but for the two whose time is what is wrong with them.
set -eu
cd "$(dirname "$0")"
work=$(mktemp -d)
trap 'rm -r "$work"' EXIT

cat >"$work/ca.conf" <<CONF
[ca]
default_ca = all
[all]
new_certs_dir = $work
database = $work/index
rand_serial = yes
default_md = sha256
policy = any
unique_subject = no
[any]
commonName = supplied
CONF
: >"$work/index"

key() { openssl ecparam -name prime256v1 -genkey -noout -out "$1"; }

# issue <file> <common name> <key> <issuer, or itself> <extensions> [<from> <to>]
issue() {
  printf '%b' "$5" >"$work/extensions"
  openssl req -new -subj "/CN=$2" -key "$3" -out "$work/request"
  if [ "$4" = itself ]; then by="-selfsign -keyfile $3"; else by="-cert $4.pem -keyfile $work/$4.key"; fi
  # shellcheck disable=SC2086
  openssl ca -batch -notext -config "$work/ca.conf" $by -in "$work/request" -out "$1.pem" \
    -extfile "$work/extensions" -startdate "${6:-20000101000000Z}" -enddate "${7:-21991231000000Z}"
}

for name in root short between; do key "$work/$name.key"; done
key leaf-key.pem
receiver='subjectAltName=DNS:receiver.test\nbasicConstraints=CA:FALSE\n'

issue root 'faulty root' "$work/root.key" itself 'basicConstraints=critical,CA:TRUE\n'
issue sound receiver.test leaf-key.pem root "$receiver"
issue not-yet-valid receiver.test leaf-key.pem root "$receiver" 21500101000000Z
issue expired receiver.test leaf-key.pem root "$receiver" 20000101000000Z 20010101000000Z
issue self-signed receiver.test leaf-key.pem itself "$receiver"
issue other-name other.test leaf-key.pem root 'subjectAltName=DNS:other.test\nbasicConstraints=CA:FALSE\n'
issue for-clients receiver.test leaf-key.pem root "${receiver}extendedKeyUsage=clientAuth\n"
issue unknown-extension receiver.test leaf-key.pem root "${receiver}1.2.3.4=critical,ASN1:UTF8String:unknown\n"

# An authority that may issue no other authority, and one that it has issued all the same.
issue short 'faulty short authority' "$work/short.key" root 'basicConstraints=critical,CA:TRUE,pathlen:0\n'
issue between 'faulty authority between' "$work/between.key" short 'basicConstraints=critical,CA:TRUE\n'
issue long-chain receiver.test leaf-key.pem between "$receiver"
cat between.pem short.pem >>long-chain.pem
rm between.pem short.pem

# Issued with a certificate that is no authority's.
cp leaf-key.pem "$work/sound.key"
issue by-leaf "receiver.test, issued by a leaf" leaf-key.pem sound "$receiver"
cat sound.pem >>by-leaf.pem

# The name is outside of those that the authority may issue for.
key "$work/narrow.key"
issue narrow 'faulty narrow authority' "$work/narrow.key" root \
  'basicConstraints=critical,CA:TRUE\nnameConstraints=critical,permitted;DNS:other.test\n'
issue foreign-name receiver.test leaf-key.pem narrow "$receiver"
cat narrow.pem >>foreign-name.pem
rm narrow.pem
