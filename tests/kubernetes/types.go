package main

import "time"

// The parts of Kubernetes' objects that the stand-in and the scenarios read.

type meta struct {
	Name              string            `json:"name"`
	Namespace         string            `json:"namespace"`
	UID               string            `json:"uid"`
	Labels            map[string]string `json:"labels"`
	Annotations       map[string]string `json:"annotations"`
	DeletionTimestamp *time.Time        `json:"deletionTimestamp"`
	DeletionGrace     *int64            `json:"deletionGracePeriodSeconds"`
}

type pod struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		NodeName           string        `json:"nodeName"`
		Hostname           string        `json:"hostname"`
		EnableServiceLinks *bool         `json:"enableServiceLinks"`
		Containers         []container   `json:"containers"`
		InitContainers     []container   `json:"initContainers"`
		Volumes            []volume      `json:"volumes"`
		SecurityContext    securityRules `json:"securityContext"`
	} `json:"spec"`
	Status struct {
		Phase             string      `json:"phase"`
		Reason            string      `json:"reason"`
		Message           string      `json:"message"`
		Conditions        []condition `json:"conditions"`
		ContainerStatuses []struct {
			State struct {
				Terminated *struct {
					ExitCode int `json:"exitCode"`
				} `json:"terminated"`
			} `json:"state"`
		} `json:"containerStatuses"`
	} `json:"status"`
}

// exitCode is that of the one container; -1 while it runs or if it never did.
func (p *pod) exitCode() int {
	for _, status := range p.Status.ContainerStatuses {
		if ended := status.State.Terminated; ended != nil {
			return ended.ExitCode
		}
	}
	return -1
}

type condition struct {
	Type    string `json:"type"`
	Status  string `json:"status"`
	Reason  string `json:"reason"`
	Message string `json:"message"`
}

type securityRules struct {
	RunAsUser              *int64 `json:"runAsUser"`
	RunAsGroup             *int64 `json:"runAsGroup"`
	FSGroup                *int64 `json:"fsGroup"`
	ReadOnlyRootFilesystem bool   `json:"readOnlyRootFilesystem"`
}

type container struct {
	Name            string         `json:"name"`
	Image           string         `json:"image"`
	Command         []string       `json:"command"`
	Args            []string       `json:"args"`
	WorkingDir      string         `json:"workingDir"`
	Env             []variable     `json:"env"`
	EnvFrom         []variables    `json:"envFrom"`
	VolumeMounts    []volumeMount  `json:"volumeMounts"`
	SecurityContext *securityRules `json:"securityContext"`
	ReadinessProbe  *probe         `json:"readinessProbe"`
	LivenessProbe   *probe         `json:"livenessProbe"`
}

type keyOf struct {
	Name string `json:"name"`
	Key  string `json:"key"`
}

type variable struct {
	Name      string `json:"name"`
	Value     string `json:"value"`
	ValueFrom *struct {
		FieldRef *struct {
			FieldPath string `json:"fieldPath"`
		} `json:"fieldRef"`
		ConfigMapKeyRef *keyOf `json:"configMapKeyRef"`
		SecretKeyRef    *keyOf `json:"secretKeyRef"`
	} `json:"valueFrom"`
}

type variables struct {
	Prefix       string `json:"prefix"`
	ConfigMapRef *keyOf `json:"configMapRef"`
	SecretRef    *keyOf `json:"secretRef"`
}

type volumeMount struct {
	Name      string `json:"name"`
	MountPath string `json:"mountPath"`
	ReadOnly  bool   `json:"readOnly"`
	SubPath   string `json:"subPath"`
}

type volume struct {
	Name      string    `json:"name"`
	EmptyDir  *struct{} `json:"emptyDir"`
	Projected *struct{} `json:"projected"`
	ConfigMap *keyOf    `json:"configMap"`
	Secret    *struct {
		SecretName string `json:"secretName"`
	} `json:"secret"`
}

type probe struct {
	HTTPGet *struct {
		Path string `json:"path"`
		Port int    `json:"port"`
	} `json:"httpGet"`
	InitialDelaySeconds int `json:"initialDelaySeconds"`
	PeriodSeconds       int `json:"periodSeconds"`
	TimeoutSeconds      int `json:"timeoutSeconds"`
	FailureThreshold    int `json:"failureThreshold"`
}

type service struct {
	Metadata meta `json:"metadata"`
	Spec     struct {
		ClusterIP string            `json:"clusterIP"`
		Selector  map[string]string `json:"selector"`
		Ports     []struct {
			Port int `json:"port"`
		} `json:"ports"`
	} `json:"spec"`
}

type job struct {
	Metadata meta `json:"metadata"`
	Status   struct {
		Active           int         `json:"active"`
		Failed           int         `json:"failed"`
		Succeeded        int         `json:"succeeded"`
		FailedIndexes    string      `json:"failedIndexes"`
		CompletedIndexes string      `json:"completedIndexes"`
		Conditions       []condition `json:"conditions"`
	} `json:"status"`
}

// has is true if the Job has this condition.
func (j *job) has(kind string) bool {
	for _, it := range j.Status.Conditions {
		if it.Type == kind && it.Status == "True" {
			return true
		}
	}
	return false
}
