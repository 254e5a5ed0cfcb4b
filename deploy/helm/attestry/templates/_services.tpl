{{/*
The services, in one list: what each needs and who may reach it.
  public   serves both APIs; its health and metrics are on a port of their own
  calls    rules of networkPolicy.egress: what it connects to beside engines
  engines  beside NATS, which all need
*/}}
{{- define "attestry.services" -}}
{{- /* services: chart, written by npm run docs */ -}}
gateway: { public: true, calls: [identityProviders], engines: [redis] }
management: { calls: [smtp], engines: [database, eventStore] }
tenant-config: { calls: [identityProviders], engines: [database, eventStore] }
dids: { calls: [tenantAddresses], engines: [database, eventStore] }
issuance: { calls: [tenantAddresses], engines: [database, eventStore, redis] }
webhooks: { calls: [webhooks], engines: [database, eventStore] }
analytics: { engines: [database, eventStore] }
{{- /* end of services */ -}}
{{- end -}}

{{/* The engines of a service that are in use, NATS included; also of `migrate`, which is none. */}}
{{- define "attestry.engines" -}}
{{- $needs := list "database" "eventStore" -}}
{{- if ne .name "migrate" -}}
{{- $needs = (index (include "attestry.services" . | fromYaml) .name).engines -}}
{{- end -}}
{{- $found := list "nats" -}}
{{- range $needs -}}
{{- if or (ne . "eventStore") $.root.Values.eventStore.enabled -}}{{- $found = append $found . -}}{{- end -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* The rules of networkPolicy.egress that a service needs: the gateway's and management's only where their setting is given. */}}
{{- define "attestry.calls" -}}
{{- $given := merge (dict) (include "attestry.config" . | fromJson) (include "attestry.secretKeys" . | fromJson) -}}
{{- $setting := index (dict "gateway" "MANAGEMENT_OIDC_ISSUER" "management" "SMTP_URL") .name -}}
{{- $found := list -}}
{{- if or (not $setting) (index $given ($setting | default "-")) -}}
{{- $found = (index (include "attestry.services" . | fromYaml) .name).calls -}}
{{- end -}}
{{- toJson ($found | default list) -}}
{{- end -}}

{{/* Settings of one service: the defaults with what `services.<name>` replaces. */}}
{{- define "attestry.settings" -}}
{{- $own := index .root.Values.services .name | default dict -}}
{{- toJson (mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own)) -}}
{{- end -}}

{{/* Of the Job: `migrate`, and where it has no member of the name, `defaults`. */}}
{{- define "attestry.migrateSettings" -}}
{{- $found := dict -}}
{{- range list "podAnnotations" "nodeSelector" "tolerations" "affinity" "priorityClassName" -}}
{{- $_ := set $found . (hasKey $.Values.migrate . | ternary (index $.Values.migrate .) (index $.Values.defaults .)) -}}
{{- end -}}
{{- toJson $found -}}
{{- end -}}

{{/* What a schema of values cannot say. */}}
{{- define "attestry.check" -}}
{{- $known := include "attestry.services" . | fromYaml -}}
{{- range $name, $_ := .Values.services -}}
{{- if not (hasKey $known $name) -}}
{{- fail (printf "services.%s: there is no such service; there are %s" $name (keys $known | sortAlpha | join ", ")) -}}
{{- end -}}
{{- end -}}
{{- range $name, $_ := $known -}}
{{- with (include "attestry.settings" (dict "root" $ "name" $name) | fromJson).autoscaling -}}
{{- if and .keda.enabled (not (and .enabled .keda.triggers)) -}}
{{- fail (printf "services.%s.autoscaling.keda: needs triggers, and autoscaling.enabled" $name) -}}
{{- end -}}
{{- if gt (int .minReplicas) (int .maxReplicas) -}}
{{- fail (printf "services.%s.autoscaling: minReplicas is more than maxReplicas" $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- include "attestry.checkConfig" (dict "root" . "path" "config" "config" .Values.config) -}}
{{- include "attestry.checkConfig" (dict "root" . "path" "defaults.config" "config" .Values.defaults.config) -}}
{{- include "attestry.checkConfig" (dict "root" . "path" "migrate.config" "config" .Values.migrate.config) -}}
{{- $variables := dict -}}
{{- range .Values.migrate.env -}}
{{- if hasKey . "value" -}}{{- $_ := set $variables .name .value -}}{{- end -}}
{{- if hasKey (include "attestry.secretKeys" (dict "root" $ "name" "migrate") | fromJson) .name -}}
{{- fail (printf "migrate.env: %s is a variable of the chart, from the Secret" .name) -}}
{{- end -}}
{{- end -}}
{{- include "attestry.checkConfig" (dict "root" . "path" "migrate.env" "config" $variables) -}}
{{- range $name, $own := .Values.services -}}
{{- include "attestry.checkConfig" (dict "root" $ "path" (printf "services.%s.config" $name) "config" ($own | default dict).config) -}}
{{- end -}}
{{- range $name := append (keys $known) "migrate" -}}
{{- $ctx := dict "root" $ "name" $name -}}
{{- $config := include "attestry.config" $ctx | fromJson -}}
{{- range $variable, $_ := include "attestry.secretKeys" $ctx | fromJson -}}
{{- if hasKey $config $variable -}}
{{- fail (printf "%s%s: %s is among the settings and among those of the Secret; remove one" (ternary "" "services." (eq $name "migrate")) $name $variable) -}}
{{- end -}}
{{- end -}}
{{- end -}}
{{- $withTls := or .Values.nats.tls.secretName (not (empty (regexFindAll "tls://" (join "," .Values.nats.urls) 1))) -}}
{{- if and (not $withTls) (not .Values.plaintextEngines) -}}
{{- fail "nats.urls: nats:// has no TLS, which production refuses; use tls://, or list the network of NATS in plaintextEngines" -}}
{{- end -}}
{{- if and (eq .Values.nats.auth.method "none") (not (and .Values.nats.tls.secretName .Values.nats.tls.clientCertificate)) -}}
{{- fail "nats.auth.method: none needs nats.tls.secretName and nats.tls.clientCertificate; production refuses NATS without credentials" -}}
{{- end -}}
{{- $hosts := include "attestry.hosts" . | fromJsonArray -}}
{{- range $where := list "ingress" "gatewayApi" -}}
{{- $seen := list -}}
{{- range (index $.Values $where).extraHosts -}}
{{- $wildcard := printf "*.%s" (regexReplaceAll "^[^.]+\\." .host "") -}}
{{- if or (has .host $hosts) (has $wildcard $hosts) (has .host $seen) -}}
{{- fail (printf "%s.extraHosts: %s leads to the gateway already" $where .host) -}}
{{- end -}}
{{- $seen = append $seen .host -}}
{{- end -}}
{{- end -}}
{{- if and .Values.ingress.enabled .Values.gatewayApi.enabled -}}
{{- fail "ingress.enabled and gatewayApi.enabled: one way in, not two" -}}
{{- end -}}
{{- end -}}

{{/* Settings become a ConfigMap, which many may read: none that is secret, and no value with a password in it. */}}
{{- define "attestry.checkConfig" -}}
{{- $secret := .root.Files.Get "files/secret-settings.json" | fromJsonArray -}}
{{- range $name, $value := .config -}}
{{- if or (has $name $secret) (regexMatch "(PASSWORD|PASSPHRASE|SECRET|CREDENTIALS|HEADERS)$" $name) -}}
{{- fail (printf "%s.%s is secret and would be in a ConfigMap: put it into the Secret, and its name into secrets.settings" $.path $name) -}}
{{- end -}}
{{- if regexMatch "://[^/?#\\s]*@" $value -}}
{{- fail (printf "%s.%s has a URL with credentials and would be in a ConfigMap: put it into the Secret, and its name into secrets.settings" $.path $name) -}}
{{- end -}}
{{- end -}}
{{- end -}}
