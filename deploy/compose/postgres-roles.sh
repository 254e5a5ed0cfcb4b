#!/bin/bash
# Runs once, when the volume is empty: a database, the role that owns it (`migrate`), and the one the services use.
set -euo pipefail
psql --quiet --set=ON_ERROR_STOP=1 --username="${POSTGRES_USER:-postgres}" --dbname=postgres \
  --set=owner_password="$MIGRATION_DATABASE_PASSWORD" --set=service_password="$DATABASE_PASSWORD" <<'SQL'
CREATE ROLE attestry_owner LOGIN PASSWORD :'owner_password';
CREATE ROLE attestry LOGIN PASSWORD :'service_password';
CREATE DATABASE attestry OWNER attestry_owner;
REVOKE ALL ON DATABASE attestry FROM PUBLIC;
GRANT CONNECT ON DATABASE attestry TO attestry;
\connect attestry
REVOKE CREATE ON SCHEMA public FROM PUBLIC;
SQL
