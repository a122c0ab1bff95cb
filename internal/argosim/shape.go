package argosim

import "time"

// The Application as the API server shows it: only what the simulator writes,
// with the oddities of the real types (a source that is always there, a
// syncResult.revision that is empty for several sources).

type application struct {
	APIVersion string     `json:"apiVersion"`
	Kind       string     `json:"kind"`
	Metadata   metadata   `json:"metadata"`
	Operation  *operation `json:"operation,omitempty"`
	Spec       spec       `json:"spec"`
	Status     *status    `json:"status,omitempty"`
}

type metadata struct {
	Annotations       map[string]string `json:"annotations"`
	CreationTimestamp string            `json:"creationTimestamp"`
	Generation        int64             `json:"generation"`
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	ResourceVersion   string            `json:"resourceVersion"`
	UID               string            `json:"uid"`
}

type destination struct {
	Namespace string `json:"namespace,omitempty"`
	Server    string `json:"server,omitempty"`
}

type spec struct {
	Destination  destination `json:"destination"`
	Project      string      `json:"project"`
	HistoryLimit *int        `json:"revisionHistoryLimit,omitempty"`
	Source       *Source     `json:"source,omitempty"`
	Sources      []Source    `json:"sources,omitempty"`
	SyncPolicy   *syncPolicy `json:"syncPolicy,omitempty"`
}

type syncPolicy struct {
	Automated *Automated `json:"automated,omitempty"`
	Retry     *Retry     `json:"retry,omitempty"`
}

type status struct {
	Conditions           []condition     `json:"conditions,omitempty"`
	ControllerNamespace  string          `json:"controllerNamespace,omitempty"`
	Health               health          `json:"health"`
	History              []history       `json:"history,omitempty"`
	OperationState       *operationState `json:"operationState,omitempty"`
	ReconciledAt         string          `json:"reconciledAt,omitempty"`
	ResourceHealthSource string          `json:"resourceHealthSource,omitempty"`
	Resources            []resource      `json:"resources,omitempty"`
	SourceHydrator       struct{}        `json:"sourceHydrator"`
	SourceType           string          `json:"sourceType,omitempty"`
	SourceTypes          []string        `json:"sourceTypes,omitempty"`
	Summary              summary         `json:"summary"`
	Sync                 syncStatus      `json:"sync"`
}

type condition struct {
	LastTransitionTime string `json:"lastTransitionTime"`
	Message            string `json:"message"`
	Type               string `json:"type"`
}

type health struct {
	LastTransitionTime string `json:"lastTransitionTime,omitempty"`
	Status             string `json:"status,omitempty"`
}

type history struct {
	DeployStartedAt string    `json:"deployStartedAt"`
	DeployedAt      string    `json:"deployedAt"`
	ID              int64     `json:"id"`
	InitiatedBy     initiator `json:"initiatedBy"`
	Revision        string    `json:"revision,omitempty"`
	Revisions       []string  `json:"revisions,omitempty"`
	Source          Source    `json:"source"`
	Sources         []Source  `json:"sources,omitempty"`
}

type initiator struct {
	Automated bool   `json:"automated,omitempty"`
	Username  string `json:"username,omitempty"`
}

type operation struct {
	InitiatedBy initiator     `json:"initiatedBy"`
	Retry       Retry         `json:"retry"`
	Sync        syncOperation `json:"sync"`
}

type syncOperation struct {
	AutoHealAttempts int64        `json:"autoHealAttemptsCount,omitempty"`
	Prune            bool         `json:"prune,omitempty"`
	Resources        []resourceID `json:"resources,omitempty"`
	Revision         string       `json:"revision,omitempty"`
	Revisions        []string     `json:"revisions,omitempty"`
	Source           *Source      `json:"source,omitempty"`
	Sources          []Source     `json:"sources,omitempty"`
}

type resourceID struct {
	Group string `json:"group,omitempty"`
	Kind  string `json:"kind"`
	Name  string `json:"name"`
}

type operationState struct {
	FinishedAt string      `json:"finishedAt,omitempty"`
	Message    string      `json:"message,omitempty"`
	Operation  operation   `json:"operation"`
	Phase      string      `json:"phase"`
	RetryCount int64       `json:"retryCount,omitempty"`
	StartedAt  string      `json:"startedAt"`
	SyncResult *syncResult `json:"syncResult,omitempty"`
}

type syncResult struct {
	Resources []resourceResult `json:"resources,omitempty"`
	Revision  string           `json:"revision"`
	Revisions []string         `json:"revisions,omitempty"`
	Source    Source           `json:"source"`
	Sources   []Source         `json:"sources,omitempty"`
}

type resourceResult struct {
	Group     string   `json:"group"`
	HookPhase string   `json:"hookPhase,omitempty"`
	HookType  string   `json:"hookType,omitempty"`
	Images    []string `json:"images,omitempty"`
	Kind      string   `json:"kind"`
	Message   string   `json:"message,omitempty"`
	Name      string   `json:"name"`
	Namespace string   `json:"namespace"`
	Status    string   `json:"status,omitempty"`
	SyncPhase string   `json:"syncPhase,omitempty"`
	Version   string   `json:"version"`
}

type resource struct {
	Group           string          `json:"group,omitempty"`
	Health          *resourceHealth `json:"health,omitempty"`
	Hook            bool            `json:"hook,omitempty"`
	Kind            string          `json:"kind"`
	Name            string          `json:"name"`
	Namespace       string          `json:"namespace,omitempty"`
	RequiresPruning bool            `json:"requiresPruning,omitempty"`
	Status          string          `json:"status,omitempty"`
	Version         string          `json:"version"`
}

type resourceHealth struct {
	Message string `json:"message,omitempty"`
	Status  string `json:"status"`
}

type summary struct {
	Images      []string `json:"images,omitempty"`
	IsAppOfApps bool     `json:"isAppOfApps,omitempty"`
}

type syncStatus struct {
	ComparedTo comparedTo `json:"comparedTo"`
	Revision   string     `json:"revision,omitempty"`
	Revisions  []string   `json:"revisions,omitempty"`
	Status     string     `json:"status"`
}

type comparedTo struct {
	Destination destination `json:"destination"`
	Source      Source      `json:"source"`
	Sources     []Source    `json:"sources,omitempty"`
}

// stamp is a time as the API server writes it: UTC, whole seconds.
func stamp(t time.Time) string { return t.UTC().Format(time.RFC3339) }

// sources are the sources of a spec in order, one or several.
func (sp spec) sources() []Source {
	if len(sp.Sources) > 0 {
		return sp.Sources
	}
	if sp.Source != nil {
		return []Source{*sp.Source}
	}
	return nil
}

func (sp spec) multi() bool { return len(sp.Sources) > 0 }

// automated is syncPolicy.automated when auto-sync is on, else nil.
func (sp spec) automated() *Automated {
	if sp.SyncPolicy == nil || sp.SyncPolicy.Automated == nil {
		return nil
	}
	if on := sp.SyncPolicy.Automated.Enabled; on != nil && !*on {
		return nil
	}
	return sp.SyncPolicy.Automated
}
