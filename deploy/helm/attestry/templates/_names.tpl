{{- define "attestry.fullname" -}}
{{- $name := .Values.nameOverride | default .Chart.Name -}}
{{- $default := contains $name .Release.Name | ternary .Release.Name (printf "%s-%s" .Release.Name $name) -}}
{{- .Values.fullnameOverride | default $default | trunc 50 | trimSuffix "-" -}}
{{- end -}}

{{/* All that selectors may use; never changes for a release. */}}
{{- define "attestry.selector" -}}
app.kubernetes.io/name: {{ .root.Values.nameOverride | default .root.Chart.Name }}
app.kubernetes.io/instance: {{ .root.Release.Name }}
{{- if .name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}
{{- end -}}

{{- define "attestry.labels" -}}
{{ include "attestry.selector" . }}
app.kubernetes.io/part-of: attestry
app.kubernetes.io/version: {{ .root.Values.image.tag | default .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ printf "%s-%s" .root.Chart.Name .root.Chart.Version | replace "+" "_" }}
{{- end -}}

{{- define "attestry.image" -}}
{{- with .Values.image -}}
{{- if .digest -}}{{ .repository }}@{{ .digest }}{{- else -}}{{ .repository }}:{{ .tag | default $.Chart.AppVersion }}{{- end -}}
{{- end -}}
{{- end -}}

{{/* Things that must be there before the migration: Helm makes them as hooks, in order of weight. */}}
{{- define "attestry.beforeMigration" -}}
helm.sh/hook: pre-install,pre-upgrade
helm.sh/hook-weight: "-10"
helm.sh/hook-delete-policy: before-hook-creation
{{- end -}}

{{/* Every public host, wildcards first; what a wildcard covers is left out. */}}
{{- define "attestry.hosts" -}}
{{- $base := .Values.baseDomain -}}
{{- $domains := list -}}
{{- $single := list (.Values.managementDomain | default (printf "management.%s" $base)) -}}
{{- if .Values.contextUrl -}}
{{- $single = append $single (urlParse .Values.contextUrl).hostname -}}
{{- else -}}
{{- $single = append $single (printf "contexts.%s" $base) -}}
{{- end -}}
{{- if .Values.environments -}}
{{- range .Values.environments -}}
{{- $domains = append $domains .domain -}}
{{- $single = append $single .authorizationServerDomain -}}
{{- end -}}
{{- else -}}
{{- $domains = append $domains $base -}}
{{- end -}}
{{- $hosts := list -}}
{{- range $domains -}}{{- $hosts = append $hosts (printf "*.%s" .) -}}{{- end -}}
{{- range $single -}}
{{- if not (has (regexReplaceAll "^[^.]+\\." . "") $domains) -}}{{- $hosts = append $hosts . -}}{{- end -}}
{{- end -}}
{{- toJson (uniq $hosts) -}}
{{- end -}}

{{/* Hosts of custom domains, of `ingress` or `gatewayApi`. */}}
{{- define "attestry.extraHosts" -}}
{{- $hosts := list -}}
{{- range .extraHosts -}}{{- $hosts = append $hosts .host -}}{{- end -}}
{{- toJson $hosts -}}
{{- end -}}
