{{/* Port of health and metrics. */}}
{{- define "attestry.adminPort" -}}
{{- ternary 9090 8080 (eq .name "gateway") -}}
{{- end -}}

{{/* Settings that are no secret, name: text, as JSON. */}}
{{- define "attestry.config" -}}
{{- $v := .root.Values -}}
{{- $engines := include "attestry.engines" . | fromJsonArray -}}
{{- $c := dict "NODE_ENV" "production" "LOG_LEVEL" $v.logLevel "NATS_URL" (join "," $v.nats.urls) "NATS_NAMESPACE" $v.nats.namespace -}}
{{- if eq $v.nats.auth.method "password" -}}{{- $_ := set $c "NATS_USER" .name -}}{{- end -}}
{{- if eq $v.nats.auth.method "credentials" -}}
{{- $_ := set $c "NATS_CREDENTIALS_FILE" "/etc/attestry/nats/user.creds" -}}
{{- end -}}
{{- if $v.nats.tls.secretName -}}
{{- $_ := set $c "NATS_CA_FILE" "/etc/attestry/nats-tls/ca.crt" -}}
{{- if $v.nats.tls.clientCertificate -}}
{{- $_ := set $c "NATS_CERT_FILE" "/etc/attestry/nats-tls/tls.crt" -}}
{{- $_ := set $c "NATS_KEY_FILE" "/etc/attestry/nats-tls/tls.key" -}}
{{- end -}}
{{- end -}}
{{- if $v.trustedCa.configMapName -}}{{- $_ := set $c "NODE_EXTRA_CA_CERTS" "/etc/attestry/ca/ca.crt" -}}{{- end -}}
{{- with $v.plaintextEngines -}}{{- $_ := set $c "PLAINTEXT_ENGINES" (join "," .) -}}{{- end -}}
{{- if has "database" $engines -}}
{{- $_ := set $c "DATABASE_SCHEMA" $v.database.schema -}}
{{- $_ := set $c "DATABASE_POOL" ($v.database.pool | int | toString) -}}
{{- end -}}
{{- if eq .name "migrate" -}}
{{- with $v.database.serviceRole -}}{{- $_ := set $c "DATABASE_SERVICE_ROLE" . -}}{{- end -}}
{{- $c = merge $c $v.migrate.config (include "attestry.ownMigrationSettings" .root | fromJson) $v.defaults.config $v.config -}}
{{- else -}}
{{- $_ := set $c "SERVICE" .name -}}
{{- $_ := set $c "HOST" "0.0.0.0" -}}
{{- $_ := set $c "PORT" "8080" -}}
{{- if ne (include "attestry.adminPort" .) "8080" -}}{{- $_ := set $c "ADMIN_PORT" (include "attestry.adminPort" .) -}}{{- end -}}
{{- $_ := set $c "PUBLIC_SCHEME" "https" -}}
{{- $_ := set $c "BASE_DOMAIN" $v.baseDomain -}}
{{- with $v.managementDomain -}}{{- $_ := set $c "MANAGEMENT_DOMAIN" . -}}{{- end -}}
{{- with $v.contextUrl -}}{{- $_ := set $c "CONTEXT_URL" . -}}{{- end -}}
{{- with $v.environments -}}{{- $_ := set $c "ENVIRONMENTS" (toJson .) -}}{{- end -}}
{{- with $v.trustedProxies -}}{{- $_ := set $c "TRUSTED_PROXIES" (join "," .) -}}{{- end -}}
{{- $_ := set $c "SHUTDOWN_DELAY" ($v.shutdownDelay | int | toString) -}}
{{- $_ := set $c "MASTER_KEY_VERSION" ($v.secrets.masterKeyVersion | int | toString) -}}
{{- with $v.otel.endpoint -}}{{- $_ := set $c "OTEL_EXPORTER_OTLP_ENDPOINT" . -}}{{- end -}}
{{- $c = merge $c (include "attestry.settings" . | fromJson).config $v.config -}}
{{- end -}}
{{- toJson $c -}}
{{- end -}}

{{/* Settings that the migration reads, of single services: one value for each, because the engines are shared. */}}
{{- define "attestry.ownMigrationSettings" -}}
{{- $found := dict -}}
{{- $from := dict -}}
{{- $read := .Files.Get "files/migration-settings.json" | fromJsonArray -}}
{{- range $name, $own := .Values.services -}}
{{- range $variable, $value := ($own | default dict).config -}}
{{- if has $variable $read -}}
{{- if and (hasKey $found $variable) (ne (get $found $variable) $value) (not (hasKey $.Values.migrate.config $variable)) -}}
{{- fail (printf "services.%s.config.%s differs from services.%s.config.%s, and the migration reads it too: set it in migrate.config" $name $variable (get $from $variable) $variable) -}}
{{- end -}}
{{- $_ := set $found $variable $value -}}
{{- $_ := set $from $variable $name -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* Variable: key in the Secret, as JSON. Nothing here is optional: a pod without one of them does not start. */}}
{{- define "attestry.secretKeys" -}}
{{- $v := .root.Values -}}
{{- $engines := include "attestry.engines" . | fromJsonArray -}}
{{- $k := dict -}}
{{- if eq $v.nats.auth.method "password" -}}
{{- $_ := set $k "NATS_PASSWORD" (printf "NATS_PASSWORD_%s" (upper .name | replace "-" "_")) -}}
{{- end -}}
{{- if has "eventStore" $engines -}}{{- $_ := set $k "EVENTSTORE_URL" "EVENTSTORE_URL" -}}{{- end -}}
{{- if has "redis" $engines -}}{{- $_ := set $k "REDIS_URL" "REDIS_URL" -}}{{- end -}}
{{- if and (has "database" $engines) $v.database.separateKeys -}}{{- $_ := set $k "KEYS_DATABASE_URL" "KEYS_DATABASE_URL" -}}{{- end -}}
{{- if eq .name "migrate" -}}
{{- $_ := set $k "MIGRATION_DATABASE_URL" "MIGRATION_DATABASE_URL" -}}
{{- if not $v.database.serviceRole -}}{{- $_ := set $k "DATABASE_URL" "DATABASE_URL" -}}{{- end -}}
{{- $listed := concat $v.secrets.settings ($v.defaults.secretSettings | default list) -}}
{{- range $_, $own := $v.services -}}{{- $listed = concat $listed (($own | default dict).secretSettings | default list) -}}{{- end -}}
{{- range $.root.Files.Get "files/migration-settings.json" | fromJsonArray -}}
{{- if has . $listed -}}{{- $_ := set $k . . -}}{{- end -}}
{{- end -}}
{{- else -}}
{{- if has "database" $engines -}}{{- $_ := set $k "DATABASE_URL" "DATABASE_URL" -}}{{- end -}}
{{- range list "MASTER_KEY" "MANAGEMENT_CLIENT_ID" "MANAGEMENT_CLIENT_SECRET" -}}{{- $_ := set $k . . -}}{{- end -}}
{{- if $v.secrets.nextMasterKey -}}{{- $_ := set $k "MASTER_KEY_NEXT" "MASTER_KEY_NEXT" -}}{{- end -}}
{{- if $v.secrets.previousMasterKey -}}{{- $_ := set $k "MASTER_KEY_PREVIOUS" "MASTER_KEY_PREVIOUS" -}}{{- end -}}
{{- range concat $v.secrets.settings ((include "attestry.settings" . | fromJson).secretSettings | default list) -}}
{{- /* Only management sends e-mail. */ -}}
{{- if or (ne . "SMTP_URL") (eq $.name "management") -}}{{- $_ := set $k . . -}}{{- end -}}
{{- end -}}
{{- end -}}
{{- toJson $k -}}
{{- end -}}

{{/* Key of the Secret that holds the file of NATS credentials, if they are one. */}}
{{- define "attestry.natsCredentialsKey" -}}
{{- if eq .root.Values.nats.auth.method "credentials" -}}nats-{{ .name }}.creds{{- end -}}
{{- end -}}

{{- define "attestry.secretName" -}}
{{- $v := .root.Values -}}
{{- if $v.secrets.externalSecret.enabled -}}
{{- include "attestry.fullname" .root }}-{{ ternary "migrate" "services" (eq .name "migrate") -}}
{{- else if eq .name "migrate" -}}
{{- $v.migrate.existingSecret | default $v.secrets.existingSecret -}}
{{- else -}}
{{- $v.secrets.existingSecret -}}
{{- end -}}
{{- end -}}

{{- define "attestry.env" -}}
{{- $secret := include "attestry.secretName" . -}}
{{- $isJob := eq .name "migrate" -}}
envFrom:
  {{- if $isJob }}{{- with .root.Values.migrate.envFrom }}
  # First: what the chart renders wins over variables of the same name.
  {{- toYaml . | nindent 2 }}
  {{- end }}{{- end }}
  - configMapRef:
      name: {{ include "attestry.fullname" .root }}-{{ .name }}
env:
  {{- range $variable, $key := include "attestry.secretKeys" . | fromJson }}
  - name: {{ $variable }}
    valueFrom:
      secretKeyRef:
        name: {{ $secret }}
        key: {{ $key }}
  {{- end }}
  {{- if $isJob }}{{- with .root.Values.migrate.env }}
  {{- toYaml . | nindent 2 }}
  {{- end }}{{- end }}
{{- end -}}

{{/* Where the pods of `settings` run: of a service, or of the Job. */}}
{{- define "attestry.scheduling" -}}
{{- with .priorityClassName }}
priorityClassName: {{ . }}
{{- end }}
{{- with .nodeSelector }}
nodeSelector: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .tolerations }}
tolerations: {{- toYaml . | nindent 2 }}
{{- end }}
{{- with .affinity }}
affinity: {{- toYaml . | nindent 2 }}
{{- end }}
{{- end -}}

{{- define "attestry.podSecurity" -}}
runAsNonRoot: true
runAsUser: 10001
runAsGroup: 10001
fsGroup: 10001
fsGroupChangePolicy: OnRootMismatch
seccompProfile:
  type: RuntimeDefault
{{- end -}}

{{- define "attestry.containerSecurity" -}}
allowPrivilegeEscalation: false
privileged: false
readOnlyRootFilesystem: true
runAsNonRoot: true
capabilities:
  drop: [ALL]
{{- end -}}

{{- define "attestry.volumeMounts" -}}
- name: tmp
  mountPath: /tmp
{{- if .root.Values.trustedCa.configMapName }}
- name: ca
  mountPath: /etc/attestry/ca
  readOnly: true
{{- end }}
{{- if .root.Values.nats.tls.secretName }}
- name: nats-tls
  mountPath: /etc/attestry/nats-tls
  readOnly: true
{{- end }}
{{- if include "attestry.natsCredentialsKey" . }}
- name: nats-credentials
  mountPath: /etc/attestry/nats
  readOnly: true
{{- end }}
{{- end -}}

{{- define "attestry.volumes" -}}
- name: tmp
  emptyDir:
    sizeLimit: 64Mi
{{- with .root.Values.trustedCa.configMapName }}
- name: ca
  configMap:
    name: {{ . }}
    items:
      - key: ca.crt
        path: ca.crt
{{- end }}
{{- if .root.Values.nats.tls.secretName }}
- name: nats-tls
  secret:
    secretName: {{ .root.Values.nats.tls.secretName }}
    defaultMode: 0440
    items:
      - key: ca.crt
        path: ca.crt
      {{- if .root.Values.nats.tls.clientCertificate }}
      - key: tls.crt
        path: tls.crt
      - key: tls.key
        path: tls.key
      {{- end }}
{{- end }}
{{- with include "attestry.natsCredentialsKey" . }}
- name: nats-credentials
  secret:
    secretName: {{ include "attestry.secretName" $ }}
    defaultMode: 0440
    items:
      - key: {{ . }}
        path: user.creds
{{- end }}
{{- end -}}
