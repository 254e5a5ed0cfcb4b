{{/*
The services, in one list: what each needs and who may reach it. A new service is one entry.
  public   serves both APIs; its health and metrics are on a port of their own
  outside  calls addresses that tenants name
  engines  beside NATS, which all need
*/}}
{{- define "attestry.services" -}}
gateway: { public: true, engines: [redis] }
management: { engines: [database, eventStore] }
tenant-config: { outside: true, engines: [database, eventStore] }
dids: { outside: true, engines: [database, eventStore] }
issuance: { outside: true, engines: [database, eventStore, redis] }
webhooks: { outside: true, engines: [database, eventStore] }
analytics: { engines: [database, eventStore] }
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

{{/* Settings of one service: the defaults with what `services.<name>` replaces. */}}
{{- define "attestry.settings" -}}
{{- $own := index .root.Values.services .name | default dict -}}
{{- toJson (mergeOverwrite (deepCopy .root.Values.defaults) (deepCopy $own)) -}}
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
{{- if and .Values.ingress.enabled .Values.gatewayApi.enabled -}}
{{- fail "ingress.enabled and gatewayApi.enabled: one way in, not two" -}}
{{- end -}}
{{- end -}}
